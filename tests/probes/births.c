// Threads are born and end all the time while code moves: some compute, some sleep, some are joined and some detached, and
// their stacks are unmapped as soon as they are gone. births MILLISECONDS.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kAtATime = 8, kStackBytes = 64 * 1024 };

__attribute__((noinline)) static int fib(int n) {
  __asm__ volatile("");  // or all calls are one
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static void nap(long us) {
  const struct timespec rest = {0, us * 1000};
  nanosleep(&rest, NULL);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *live(void *number) {
  const long kind = (long)number % 4;
  if (kind == 1) nap(50);
  if (kind == 2) nap(700);
  if (fib(kind == 3 ? 18 : 10) < 0) abort();
  return number;
}

int main(int count, char **arguments) {
  pthread_attr_t joined, detached;
  if (count < 2 || pthread_attr_init(&joined) != 0 || pthread_attr_init(&detached) != 0 ||
      pthread_attr_setstacksize(&joined, kStackBytes) != 0 || pthread_attr_setstacksize(&detached, kStackBytes) != 0 ||
      pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) != 0)
    return 1;
  long born = 0;
  for (const double end = now() + atof(arguments[1]) / 1e3; now() < end;) {
    pthread_t threads[kAtATime], alone;
    for (long i = 0; i < kAtATime; ++i)
      if (pthread_create(&threads[i], &joined, live, (void *)i) != 0) return 2;
    if (pthread_create(&alone, &detached, live, (void *)born) != 0) return 3;
    for (long i = 0; i < kAtATime; ++i) {
      void *number;
      if (pthread_join(threads[i], &number) != 0 || (long)number != i) return 4;
    }
    born += kAtATime + 1;
  }
  printf("%ld threads\n", born);
  return 0;
}
