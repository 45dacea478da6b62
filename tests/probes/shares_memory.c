// A child of clone(CLONE_VM), no thread of its parent, sleeps through many epochs deep in frames of old images and
// returns through them.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

__attribute__((noinline)) static void nap(long us) {
  const struct timespec rest = {0, us * 1000};
  if (nanosleep(&rest, NULL) != 0) abort();
}
__attribute__((noinline)) static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) static int nap_deep(int depth) {
  if (depth == 0) {
    for (int i = 0; i < 150; ++i) nap(1000);
    return 0;
  }
  const int result = nap_deep(depth - 1) + 1;
  __asm__ volatile("");
  return result;
}
static int child_main(void *nothing) {
  (void)nothing;
  return nap_deep(30) + 47;
}

static char stack[1 << 18] __attribute__((aligned(16)));

int main(void) {
  int right = 0;
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 5; ++k) nap(1000), fib(14);  // other images than main's own
    const pid_t child = clone(child_main, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) fib(14);
    right += WIFEXITED(status) && WEXITSTATUS(status) == 77;
  }
  printf("%d\n", right);
  return 0;
}
