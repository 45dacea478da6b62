// Writes random words all over the control block that it shares with its helper, from a thread of its own, while its code
// moves; then dies without a word: scribbles MILLISECONDS. What becomes of the program is its own affair.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t *block;
static size_t words;

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

// Numbers that are taken for something: small ones, our own pid, addresses, and anything.
static uint64_t draw(uint64_t *state) {
  const uint64_t drawn = next(state);
  switch (drawn % 6) {
    case 0: return 0;
    case 1: return drawn >> 58;
    case 2: return (uint64_t)getpid() | (uint64_t)getppid() << 32;
    case 3: return (uint64_t)block + (drawn >> 52);
    case 4: return ~(drawn >> 60);
    default: return drawn;
  }
}

static void *scribble(void *unused) {
  uint64_t state = 88172645463325252u;
  for (;;) {
    const uint64_t drawn = next(&state);
    if (drawn % 64 != 0)
      block[drawn / 64 % words] = draw(&state);
    else
      for (size_t i = 0; i < words; ++i) block[i] = draw(&state);
  }
  return unused;
}

__attribute__((noinline)) static long fib(int n) {
  __asm__ volatile("");  // or all calls are one
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    uint64_t from = 0, to = 0;
    if (strstr(line, "memfd:stab-control") == NULL || sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
    block = (volatile uint64_t *)from;
    words = (to - from) / sizeof *block;
  }
  if (block == NULL || count < 2) return 1;
  const double end = now() + atof(arguments[1]) / 1e3;
  pthread_t scribbler;
  if (pthread_create(&scribbler, NULL, scribble, NULL) != 0) return 2;
  while (now() < end) fib(16);
  _exit(3);
}
