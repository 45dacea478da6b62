// A thread sleeps or runs deep in a stack of 256 GiB, almost none of which was ever written, while code moves: whoever wants to
// read all of it reads for minutes. hole sleeps|runs; it ends when its standard input does.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const size_t kStack = (size_t)256 << 30;

__attribute__((noinline)) static long fib(int n) {
  __asm__ volatile("");  // or all calls are one
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

#pragma clang diagnostic ignored "-Wframe-larger-than"
static void *stay(void *runs) {
  char *hole = __builtin_alloca(kStack - ((size_t)1 << 30));
  __asm__ volatile("" : : "r"(hole));  // it is there, but nobody touches it
  const struct timespec rest = {900, 0};
  while (runs) fib(20);
  nanosleep(&rest, NULL);
  return hole;
}

int main(int count, char **arguments) {
  pthread_attr_t attributes;
  pthread_t thread;
  void *stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (count < 2 || stack == MAP_FAILED || pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstack(&attributes, stack, kStack) != 0 ||
      pthread_create(&thread, &attributes, stay, strcmp(arguments[1], "runs") == 0 ? stack : NULL) != 0)
    return 1;
  struct pollfd end = {STDIN_FILENO, POLLIN, 0};
  while (poll(&end, 1, 0) == 0) fib(16);
  puts("ready");
  fflush(stdout);
  _exit(3);
}
