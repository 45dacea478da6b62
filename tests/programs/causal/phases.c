/* One thread whose rounds take 0.5 ms of line_a in three of ten stretches of 100 rounds, and of line_b in the other seven: a line
 * that lives for 30 % of the run. */
#include "work.h"

LINE(line_a)
LINE(line_b)

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  const uint64_t a = rounds("line_a", 500), b = rounds("line_b", 500);
  long done = 0;
  /* Whole cycles, so that each run has the same mixture. */
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    for (int i = 0; i < 1000; i++) {
      if (i < 300)
        line_a(a);
      else
        line_b(b);
      COZ_PROGRESS_NAMED("round");
      done++;
    }
  }
  printf("%ld rounds\n", done);
  return 0;
}
