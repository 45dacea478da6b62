/* A thread that waits 2.0 ms for a device and works 0.5 ms (line_a) meets one that works 2.2 ms (line_b). On several CPUs a round
 * takes max(2.0 + a, b). */
#include "work.h"

LINE(line_a)
LINE(line_b)

static pthread_barrier_t barrier;
static volatile int stop = 0;

static void* device(void* nothing) {
  const uint64_t mine = rounds("line_a", 500);
  const struct timespec time = {0, (long)(2000000 * scale)};
  while (!stop) {
    nanosleep(&time, NULL);
    line_a(mine);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
  return nothing;
}

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  const uint64_t mine = rounds("line_b", 2200);
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  if (pthread_create(&thread, NULL, device, NULL) != 0) return 1;
  long done = 0;
  while (!stop) {
    line_b(mine);
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
