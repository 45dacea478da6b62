/* Cancelling a blocked thread unwinds it and runs its cleanup handlers.
   flags: -pthread */
#include <pthread.h>
#include <unistd.h>
#include "repeat.h"
static int cleaned;
static void clean(void* by) { cleaned += *(int*)by; }
NOINLINE static void block(int* by) {
  pthread_cleanup_push(clean, by);
  for (;;) pause();
  pthread_cleanup_pop(0);
}
static void* run(void* by) { block(by); return NULL; }
int main(void) {
  int expected = 0;
  REPEAT {
    pthread_t thread;
    void* result;
    int one = 1;
    CHECK(pthread_create(&thread, NULL, run, &one) == 0);
    usleep(500);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    CHECK(result == PTHREAD_CANCELED && cleaned == ++expected);
  }
  puts("cancel ok");
}
