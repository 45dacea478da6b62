// For debuggers and profilers: a chain of moved functions of which the innermost computes for a while, then writes a
// line, ROUNDS times (40). It aborts in round LAST.
//
//   debugged [ROUNDS [LAST]]
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static unsigned state = 1;

NOINLINE static void compute(long milliseconds) {
  struct timespec begun, now;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  do {
    for (int i = 0; i < 10000; ++i) state = state * 1664525u + 1013904223u;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < milliseconds);
}
NOINLINE static void innermost(int round, int last) {
  compute(5);
  if (round == last) abort();
  if (write(1, "round\n", 6) != 6) exit(1);
}
NOINLINE static void middle(int round, int last) {
  innermost(round, last);
  __asm__ volatile("");
}
NOINLINE static void outer(int round, int last) {
  middle(round, last);
  __asm__ volatile("");
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 40;
  const int last = argc > 2 ? atoi(argv[2]) : -1;
  for (int round = 0; round < rounds; ++round) outer(round, last);
  return 0;
}
