/* Nanoseconds of CPU time for an uncontended lock and unlock, the least of many rounds, and for a loop of plain work. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void* nothing(void* given) { return given; }

int main(void) {
  enum { kTimes = 20000, kRounds = 400, kWork = 20000000, kWorkRounds = 40 };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_t thread; /* libc skips the atomics while there was never a second one */
  if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0) return 1;
  double least = 1e18, work = 1e18;
  for (int round = 0; round < kRounds; round++) {
    const double begun = now();
    for (int i = 0; i < kTimes; i++) {
      pthread_mutex_lock(&lock);
      pthread_mutex_unlock(&lock);
    }
    const double took = (now() - begun) / kTimes;
    if (took < least) least = took;
  }
  for (int round = 0; round < kWorkRounds; round++) {
    unsigned long x = 1;
    const double begun = now();
    for (unsigned long i = 0; i < kWork; i++) __asm__ volatile("imul %1,%0" : "+r"(x) : "r"(i));
    const double took = now() - begun;
    if (took < work) work = took;
  }
  printf("%.2f %.0f\n", least, work);
  return 0;
}
