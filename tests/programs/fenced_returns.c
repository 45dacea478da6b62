/* flags: -mlvi-cfi

   Functions that return by taking the address off the stack, a fence, and a jump: meanwhile it is in a register alone. */
#include "repeat.h"
NOINLINE static long leaf(long x) { __asm__ volatile(""); return x * 1000003 + 1; }
static long (*volatile through)(long) = leaf;
/* Stays in its image, which nobody else runs in. */
NOINLINE static long stays(double until) {
  long sum = 0, count = 0;
  while (seconds_now() < until)
    for (int i = 0; i < 1000; ++i, ++count) sum += through(i) - through(i - 1);
  return sum == count * 1000003;
}
static long (*volatile stays_in_newest)(double) = stays;
int main(void) {
  for (int i = 0; i < 5; ++i) CHECK(stays_in_newest(seconds_now() + REPEAT_SECONDS));
  puts("fenced returns ok");
}
