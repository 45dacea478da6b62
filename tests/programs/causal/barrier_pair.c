/* Two threads meet at a barrier in each round, after 2.0 ms of work in one and 1.6 ms in the other. On two CPUs a round takes
 * max(a, b), on one a + b. */
#include "work.h"

LINE(line_a)
LINE(line_b)

static pthread_barrier_t barrier;
static volatile int stop = 0;

static void* other(void* nothing) {
  const uint64_t mine = rounds("line_b", 1600);
  while (!stop) {
    line_b(mine);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
  return nothing;
}

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  const uint64_t mine = rounds("line_a", 2000);
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  if (pthread_create(&thread, NULL, other, NULL) != 0) return 1;
  long done = 0;
  while (!stop) {
    line_a(mine);
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
