/* exec out of a thread that isn't the first one, while others run.
   flags: -pthread */
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "repeat.h"
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static char* self;
static void* busy(void* unused) { for (;;) CHECK(fib(10) == 55); return unused; }
static void* become(void* unused) {
  REPEAT CHECK(fib(10) == 55);
  execl("/proc/self/exe", self, "again", (char*)NULL);
  return unused;
}
int main(int argc, char** argv) {
  pthread_t one, two;
  if (argc > 1 && strcmp(argv[1], "again") == 0) {
    REPEAT CHECK(fib(12) == 144);
    puts("exec ok");
    return 0;
  }
  self = argv[0];
  CHECK(pthread_create(&one, NULL, busy, NULL) == 0 && pthread_create(&two, NULL, become, NULL) == 0);
  pthread_join(two, NULL);
  return 1;
}
