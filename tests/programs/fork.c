/* fork: the child moves on its own, also out of a threaded program; wait() sees no other child than ours.
   flags: -pthread */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static volatile int stop;
static void* busy(void* unused) { while (!stop) CHECK(fib(10) == 55); return unused; }
int main(void) {
  pthread_t thread;
  CHECK(wait(NULL) == -1 && errno == ECHILD);
  CHECK(pthread_create(&thread, NULL, busy, NULL) == 0);
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      CHECK(wait(NULL) == -1 && errno == ECHILD);
      double end = seconds_now() + 0.01;
      while (seconds_now() < end) CHECK(fib(15) == 610);
      _exit(i);
    }
    int status;
    CHECK(fib(18) == 2584);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == i);
  }
  CHECK(wait(NULL) == -1 && errno == ECHILD);
  stop = 1;
  pthread_join(thread, NULL);
  puts("fork ok");
}
