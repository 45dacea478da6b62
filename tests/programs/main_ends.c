/* The main thread ends by pthread_exit; others go on, and the last one ends the program.
   expect-exit: 5
   flags: -pthread */
#include <pthread.h>
#include <unistd.h>
#include "repeat.h"
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void* last(void* unused) {
  usleep(2000);
  REPEAT CHECK(fib(15) == 610);
  puts("last thread ends the program");
  exit(5);
  return unused;
}
int main(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, last, NULL) == 0);
  pthread_exit(NULL);
}
