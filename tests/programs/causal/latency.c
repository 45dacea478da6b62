/* One thread; a request takes 1 ms of line_a between its begin and its end, and then come 3 ms of line_b without one. */
#include "work.h"

LINE(line_a)
LINE(line_b)

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  const uint64_t a = rounds("line_a", 1000), b = rounds("line_b", 3000);
  long done = 0;
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    COZ_BEGIN("request");
    line_a(a);
    COZ_END("request");
    line_b(b);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  printf("%ld rounds\n", done);
  return 0;
}
