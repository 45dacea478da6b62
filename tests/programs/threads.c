/* Threads that come and go all the time, with locks and conditions, many of them waiting in old frames.
   flags: -pthread */
#include <pthread.h>
#include "repeat.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, rounds = 50;
NOINLINE static long work(long n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
static void* player(void* id) {
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&lock);
    while (turn != (int)(long)id) pthread_cond_wait(&changed, &lock);
    turn = (turn + 1) % 4;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    CHECK(work(10) == 55);
  }
  return id;
}
/* A stack as large as all memory: there is no such thread, whatever is added to it. */
NOINLINE static void ask_for_all_memory(void) {
  pthread_attr_t attributes;
  pthread_t never;
  CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, ~(size_t)4095) == 0);
  CHECK(pthread_create(&never, &attributes, player, NULL) != 0);
  pthread_attr_destroy(&attributes);
}
int main(void) {
  ask_for_all_memory();
  REPEAT {
    pthread_t threads[4];
    turn = 0;
    for (long i = 0; i < 4; ++i) CHECK(pthread_create(&threads[i], NULL, player, (void*)i) == 0);
    for (long i = 0; i < 4; ++i) {
      void* result;
      pthread_join(threads[i], &result);
      CHECK(result == (void*)i);
    }
  }
  puts("threads ok");
}
