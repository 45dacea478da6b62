/* One thread: 2 ms of sleep, as of a device (line_b), and 1 ms of work (line_a): waiting is sped up, too. */
#include "work.h"

LINE(line_a)

__attribute__((noinline)) void line_b(const struct timespec* device) {
  nanosleep(device, NULL);
  __asm__ volatile("" : : : "memory");
}

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  const uint64_t mine = rounds("line_a", 1000);
  const double part = strcmp(real_line, "line_b") == 0 ? 1 - real_part : 1;
  const struct timespec device = {0, (long)(2000000 * scale * part)};
  long done = 0;
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    line_b(&device);
    line_a(mine);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  printf("%ld rounds\n", done);
  return 0;
}
