// Children that go on in frames of their parent's images, return through them, exec, or are spawned, while
// threads run.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static pid_t root;

__attribute__((noinline)) static void nap(long us) {
  const struct timespec rest = {0, us * 1000};
  if (nanosleep(&rest, NULL) != 0) abort();
}
__attribute__((noinline)) static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// As fork(), without the hooks that fork() runs.
static pid_t fork_by_hand(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

// The child sleeps through many epochs at the bottom, then returns -77 through all frames. The parent returns its
// pid at once, so that nothing of the parent's keeps those images in use.
__attribute__((noinline)) static int fork_deep(int depth, pid_t (*make_child)(void)) {
  if (depth == 0) {
    errno = 42;
    const pid_t child = make_child();
    if (child < 0 || errno != 42) abort();
    if (child > 0) return child;
    for (int i = 0; i < 150; ++i) nap(1000);
    return fib(16) == 987 ? -77 : -9;
  }
  const int result = fork_deep(depth - 1, make_child);
  __asm__ volatile("");
  return result;
}

static volatile int done;
static void *spin(void *nothing) {
  while (!done) {
    fib(14);
    nap(200);
  }
  return nothing;
}

static void expect_exit(pid_t child, int wanted) {
  int status;
  if (waitpid(child, &status, 0) != child || status != wanted << 8) abort();
}

int main(void) {
  root = getpid();
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, spin, NULL);
  int right = 0;
  for (int i = 0; i < 14; ++i) {
    const int result = fork_deep(30, i % 2 == 1 ? fork_by_hand : fork);
    if (getpid() != root) _exit(-result);
    int status;
    if (waitpid(result, &status, 0) != result) abort();
    right += WIFEXITED(status) && WEXITSTATUS(status) == 77;
    pid_t child;
    char *arguments[] = {"true", NULL};
    if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0) abort();
    expect_exit(child, 0);
    if (system("exit 3") != 3 << 8) abort();
    child = fork();
    if (child == 0) execl("/bin/true", "true", (char *)NULL);
    expect_exit(child, 0);
    child = vfork();
    if (child == 0) _exit(5);
    expect_exit(child, 5);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) abort();
  }
  done = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  printf("%d\n", right);
  return 0;
}
