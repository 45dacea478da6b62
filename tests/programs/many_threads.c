/* More threads than any ring has images, each asleep in frames of another layout, then all return.
   flags: -pthread */
#include <pthread.h>
#include "repeat.h"
#define THREADS 150
static pthread_barrier_t all_started, all_may_end;
NOINLINE static long descend(long depth) {
  if (depth > 0) return descend(depth - 1) + 1;
  pthread_barrier_wait(&all_started);
  pthread_barrier_wait(&all_may_end);
  return 0;
}
static void* run(void* depth) { return (void*)descend((long)depth); }
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
  pthread_t threads[THREADS];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  pthread_barrier_init(&all_started, NULL, THREADS + 1);
  pthread_barrier_init(&all_may_end, NULL, THREADS + 1);
  for (long i = 0; i < THREADS; ++i) {
    CHECK(pthread_create(&threads[i], &small, run, (void*)(i % 20)) == 0);
    CHECK(fib(14) == 377);
  }
  pthread_barrier_wait(&all_started);
  REPEAT CHECK(fib(14) == 377);
  pthread_barrier_wait(&all_may_end);
  for (long i = 0; i < THREADS; ++i) {
    void* depth;
    pthread_join(threads[i], &depth);
    CHECK((long)depth == i % 20);
  }
  puts("many threads ok");
}
