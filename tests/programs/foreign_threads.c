/* Threads that no pthread_create of ours made: a timer's, and one by clone(2) on a stack of its own.
   flags: -pthread */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "repeat.h"
NOINLINE static unsigned next(unsigned x) { return x * 1664525u + 1013904223u; }
NOINLINE static unsigned steps(unsigned x, int count) {
  while (count-- > 0) x = next(x);
  return x;
}
static unsigned expected;
static sem_t done;
static void on_timer(union sigval value) {
  CHECK(steps(7, 1000) == expected && value.sival_int == 42);
  sem_post(&done);
}
static unsigned found;
static volatile int alive;
/* It shares its maker's thread-local memory, so it calls nothing of libc. */
static int bare(void* argument) {
  found = steps(7, *(int*)argument);
  return 0;
}
int main(void) {
  static char stack[256 * 1024] __attribute__((aligned(16)));
  int count = 1000;
  expected = steps(7, count);
  sem_init(&done, 0, 0);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 42};
  event.sigev_notify_function = on_timer;
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  REPEAT {
    const struct itimerspec soon = {{0, 0}, {0, 100000}};
    CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
                      CLONE_CHILD_CLEARTID;
    found = 0;
    CHECK(clone(bare, stack + sizeof stack, flags, &count, &alive, NULL, &alive) > 0);
    while (alive != 0) sched_yield();
    CHECK(found == expected);
    while (sem_wait(&done) != 0) {
    }
  }
  puts("foreign threads ok");
}
