/* Processes made by hand that are nobody's children in the program: a sibling, and a child of a child that ended at once. They go
   on in frames of old images while the program moves on. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
#define DEPTH 20
NOINLINE static int next(int n) { return n * 3 + 1; }
NOINLINE static int steps(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum = next(sum) & 0xffff;
  return sum;
}
/* Comes back through all of its frames at the end, layouts later; each call has a frame, whatever the optimization. */
__attribute__((optnone)) NOINLINE static int stay(int depth, double until) {
  if (depth > 0) {
    volatile int below = stay(depth - 1, until);
    return below + next(depth) - 3 * depth;
  }
  const int expected = steps(100);
  while (seconds_now() < until) {
    const struct timespec nap = {0, 2000000};
    nanosleep(&nap, NULL);
    if (steps(100) != expected) return -1000;
  }
  return 0;
}
/* Whoever comes back into the wrong place makes no more of them. */
static long make(unsigned long flags) {
  static int generation = 0;
  if (generation == 2) _exit(1);
  const long made = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (made == 0) ++generation;
  return made;
}
/* In the new process 0. Nothing of libc's runs in between that knows of forks. */
static long make_orphan(void) {
  const long child = make(0);
  if (child == 0) {
    if (make(0) == 0) return 0;
    _exit(0);
  }
  CHECK(child > 0 && waitpid((pid_t)child, NULL, 0) == child);
  return child;
}
int main(void) {
  enum { kEach = 3 };
  int ends[2];
  char said;
  int right = 0, wrong = 0;
  CHECK(pipe(ends) == 0);
  const int expected = steps(1000);
  const double until = seconds_now() + 6 * REPEAT_SECONDS;
  for (int i = 0; i < 2 * kEach; ++i) {
    /* So that the next one begins in an image of its own, which the program leaves. */
    for (double soon = seconds_now() + 0.01; seconds_now() < soon;) CHECK(steps(1000) == expected);
    if ((i < kEach ? make(CLONE_PARENT) : make_orphan()) == 0) {
      said = stay(DEPTH, until) == DEPTH ? 'r' : 'w';
      CHECK(write(ends[1], &said, 1) == 1);
      _exit(0);
    }
  }
  while (seconds_now() < until) CHECK(steps(1000) == expected);
  close(ends[1]);
  while (read(ends[0], &said, 1) == 1) ++*(said == 'r' ? &right : &wrong);
  printf("%d went on, %d went wrong\n", right, wrong);
  return right == 2 * kEach ? 0 : 1;
}
