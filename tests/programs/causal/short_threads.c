/* Two threads in each round, of 0.45 ms of line_a and then 0.3 ms of line_b: both end before a millisecond is over. */
#include "work.h"

LINE(line_a)
LINE(line_b)

static uint64_t first, second;

static void* live(void* nothing) {
  line_a(first);
  line_b(second);
  return nothing;
}

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  first = rounds("line_a", 450);
  second = rounds("line_b", 300);
  long done = 0;
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
      if (pthread_create(&threads[i], NULL, live, NULL) != 0) return 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  printf("%ld rounds\n", done);
  return 0;
}
