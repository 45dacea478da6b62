// Threads that sit for many epochs on an alternate signal stack, in deep recursion, or in a blocking call, and
// then return through frames of images that were retired long ago.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

NOINLINE static void nap(long ms) {
  struct timespec rest = {0, ms * 1000000};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

static __thread volatile int handled;
NOINLINE static void in_handler(void) {
  nap(40);
  ++handled;
}
static void handler(int signal) {
  (void)signal;
  in_handler();
}

// Interrupted at the bottom: the frames above are on the thread's own stack, the handler is not.
NOINLINE static int interrupted(int depth) {
  if (depth == 0) {
    pthread_kill(pthread_self(), SIGUSR1);
    return 1;
  }
  const int result = interrupted(depth - 1) + 1;
  __asm__ volatile("");
  return result;
}

static void *on_alternate_stack(void *nothing) {
  char *memory = malloc(65536);
  const stack_t stack = {.ss_sp = memory, .ss_size = 65536};
  sigaltstack(&stack, NULL);
  long sum = 0;
  for (int i = 0; i < 10; ++i) sum += interrupted(25 + i);
  if (handled != 10) abort();
  const stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  free(memory);
  return (void *)sum;
}

// About 400 KiB deep, running all the time.
NOINLINE static long deep(int depth, volatile char *above) {
  volatile char room[1000];
  memset((void *)room, depth, sizeof room);
  if (depth == 0) {
    long sum = 0;
    const clock_t end = clock() + CLOCKS_PER_SEC / 20;
    while (clock() < end) sum |= 1;
    return sum;
  }
  const long result = deep(depth - 1, room);
  return result + room[depth % 1000] - (char)depth + (above[0] == 0 ? 0 : 0);
}
static void *running_deep(void *nothing) {
  char above[1] = {0};
  long sum = 0;
  for (int i = 0; i < 5; ++i) sum += deep(400, above);
  return (void *)sum;
}

NOINLINE static int blocked(int depth, int fd) {
  if (depth == 0) {
    char byte;
    return (int)read(fd, &byte, 1);
  }
  const int result = blocked(depth - 1, fd);
  __asm__ volatile("");
  return result;
}
static int ends[2];
static void *blocking(void *nothing) { return (void *)(long)blocked(50, ends[0]); }

// Enters moved functions all the time, so that each epoch has a new layout.
static volatile int done;
NOINLINE static long enter(long x) { return x * 3 + 1; }
static void *churn(void *nothing) {
  long sum = 1;
  const struct timespec rest = {0, 200000};
  while (!done) {
    for (int i = 0; i < 100; ++i) sum = enter(sum);
    nanosleep(&rest, NULL);
  }
  return sum == 0 ? NULL : nothing;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  if (pipe(ends) != 0) abort();
  pthread_t threads[6];
  void *(*bodies[6])(void *) = {on_alternate_stack, on_alternate_stack, running_deep, running_deep, blocking, blocking};
  for (int i = 0; i < 6; ++i) pthread_create(&threads[i], NULL, bodies[i], NULL);
  pthread_t churning;
  pthread_create(&churning, NULL, churn, NULL);
  nap(500);
  if (write(ends[1], "xx", 2) != 2) abort();
  for (int i = 0; i < 6; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    printf("%ld\n", (long)result);
  }
  done = 1;
  pthread_join(churning, NULL);
  return 0;
}
