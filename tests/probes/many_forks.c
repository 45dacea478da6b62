// Children that end at once, as many as the first argument says; then calls for as many milliseconds as the second.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const int wanted = atoi(arguments[1]);
  for (int i = 0; i < wanted; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (waitpid(child, NULL, 0) != child) return 1;
  }
  const double end = seconds() + atoi(arguments[2]) * 1e-3;
  while (seconds() < end)
    if (fib(14) != 377) return 1;
  printf("%d\n", wanted);
  return 0;
}
