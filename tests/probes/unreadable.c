// A child made by hand that its parent's helper may not read (as any under Yama) sleeps through many epochs deep in
// frames of its parent's images and returns through them.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void nap(long us) {
  const struct timespec rest = {0, us * 1000};
  if (nanosleep(&rest, NULL) != 0) abort();
}
__attribute__((noinline)) static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) static int fork_deep(int depth) {
  if (depth == 0) {
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child != 0) return child;
    prctl(PR_SET_DUMPABLE, 0);
    for (int i = 0; i < 300; ++i) nap(1000);
    return fib(16) == 987 ? -77 : -9;
  }
  const int result = fork_deep(depth - 1);
  __asm__ volatile("");
  return result;
}

int main(int count, char **arguments) {
  // Root may read anything: become somebody else, and start anew.
  if (geteuid() == 0) {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) return 1;
    execv("/proc/self/exe", arguments);
    return 2;
  }
  const pid_t root = getpid();
  for (int i = 0; i < 10; ++i) nap(1000), fib(14);  // main's own frame keeps the first image
  const int result = fork_deep(30);
  if (getpid() != root) _exit(-result);
  int status;
  while (waitpid(result, &status, WNOHANG) == 0) fib(14);
  const int right = WIFEXITED(status) && WEXITSTATUS(status) == 77;
  for (int i = 0; i < 20; ++i) nap(1000), fib(14);
  printf("%d %d\n", count, right);
  return 0;
}
