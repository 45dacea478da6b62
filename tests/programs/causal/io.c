/* One thread: 2 ms of sleep, as of a device, and 1 ms of work (line_a). And with --scale the same, shorter. Time here is the
 * wall's, less what others took: the truth is (2 + 1) against (2 + 1 - s). */
#include "work.h"

LINE(line_a)

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  const uint64_t mine = rounds("line_a", 1000);
  const struct timespec device = {0, (long)(2000000 * scale)};
  long done = 0;
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    nanosleep(&device, NULL);
    line_a(mine);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  printf("%ld rounds\n", done);
  return 0;
}
