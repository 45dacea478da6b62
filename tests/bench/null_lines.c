/* Twenty lines that are worth nothing beside one that is worth nearly everything: two threads meet at a barrier in each round,
 * after 800 us of work in one line of the one, and 10 us in each of twenty lines of the other. On two CPUs the second one waits
 * for the first, so none of its lines is worth anything; on one each is worth a hundredth of its speedup. */
#include "work.h"

LINE(line_long)
LINE(null_01)
LINE(null_02)
LINE(null_03)
LINE(null_04)
LINE(null_05)
LINE(null_06)
LINE(null_07)
LINE(null_08)
LINE(null_09)
LINE(null_10)
LINE(null_11)
LINE(null_12)
LINE(null_13)
LINE(null_14)
LINE(null_15)
LINE(null_16)
LINE(null_17)
LINE(null_18)
LINE(null_19)
LINE(null_20)

static uint64_t (*const null_lines[])(uint64_t) = {null_01, null_02, null_03, null_04, null_05, null_06, null_07,
                                                   null_08, null_09, null_10, null_11, null_12, null_13, null_14,
                                                   null_15, null_16, null_17, null_18, null_19, null_20};
static pthread_barrier_t barrier;
static volatile int stop = 0;

static void* other(void* nothing) {
  const uint64_t mine = rounds("nulls", 10); /* all twenty of them at once */
  while (!stop) {
    for (unsigned i = 0; i < sizeof null_lines / sizeof null_lines[0]; i++) null_lines[i](mine);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
  return nothing;
}

int main(int argc, char** argv) {
  read_options(argc, argv, line_long);
  const uint64_t mine = rounds("line_long", 800);
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  if (pthread_create(&thread, NULL, other, NULL) != 0) return 1;
  long done = 0;
  while (!stop) {
    line_long(mine);
    pthread_barrier_wait(&barrier);
    COZ_PROGRESS_NAMED("round");
    done++;
    if (clock_of(CLOCK_PROCESS_CPUTIME_ID) >= run_seconds) stop = 1;
    pthread_barrier_wait(&barrier);
  }
  pthread_join(thread, NULL);
  printf("%ld rounds\n", done);
  return 0;
}
