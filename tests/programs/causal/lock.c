/* Two threads, each 1.0 ms beside a lock (line_a) and 0.6 ms in it (line_b). */
#include "work.h"

LINE(line_a)
LINE(line_b)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long done = 0;

static void* work(void* nothing) {
  const uint64_t outside = rounds("line_a", 1000), inside = rounds("line_b", 600);
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    line_a(outside);
    pthread_mutex_lock(&lock);
    line_b(inside);
    done++;
    pthread_mutex_unlock(&lock);
    COZ_PROGRESS_NAMED("round");
  }
  return nothing;
}

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%ld rounds\n", done);
  return 0;
}
