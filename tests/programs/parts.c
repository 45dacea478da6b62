/* Functions in pieces: every basic block in a section of its own, reached by jumps from other pieces.
   flags: -fbasic-block-sections=all -Wno-unused-command-line-argument
   not: -flto -flto=thin */
#include "repeat.h"
NOINLINE static unsigned collatz(unsigned n) {
  unsigned steps = 0;
  while (n != 1) {
    if (n % 2 == 0)
      n /= 2;
    else
      n = 3 * n + 1;
    if (++steps > 1000) return 0;
  }
  return steps;
}
NOINLINE static int weigh(int kind) {
  switch (kind % 7) {
    case 0: return 3;
    case 1: return collatz(27) > 100 ? 5 : 6;
    case 2: return -1;
    case 3: return kind;
    case 4: return kind * 2;
    case 5: return 11;
    default: return 0;
  }
}
int main(void) {
  long first = 0;
  REPEAT {
    long sum = 0;
    for (int i = 0; i < 70; ++i) sum += weigh(i) + (int)collatz((unsigned)i + 1);
    CHECK(first == 0 || sum == first);
    first = sum;
  }
  printf("%ld\n", first);
}
