/* A loop stays in the image that it was entered in while its calls, at all places of a line, with and without return,
   are led to each newest one. */
#include "repeat.h"
typedef unsigned long word;
NOINLINE static word add(word x, word y) { __asm__ volatile(""); return x + y; }
NOINLINE static word twice(word x) { __asm__ volatile(""); return 2 * x; }
NOINLINE static word half(word x) { __asm__ volatile(""); return x / 2; }
NOINLINE static word ends_in_a_call(word x, word y) { __asm__ volatile(""); return x > y ? add(x, y) : twice(y); }

/* Calls that many bytes apart: the nops are 0 to 7 long. */
#define SKEWED(nops) \
  __asm__ volatile(".nops " #nops); \
  x = add(x, 1); x = half(twice(x)); x = ends_in_a_call(x, x) / 2;
NOINLINE static word stays(double until) {
  word rounds = 0, x = 0;
  while (seconds_now() < until) {
    ++rounds;
    SKEWED(1) SKEWED(2) SKEWED(3) SKEWED(4) SKEWED(5) SKEWED(6) SKEWED(7) SKEWED(1)
  }
  return x == 8 * rounds;
}
static word (*volatile through)(double) = stays;

/* A call that is led to a place of former times meets another function there. */
#define OTHER(n) NOINLINE static word other##n(word x) { return x * 3 + n; }
#define OTHERS(n) OTHER(n##0) OTHER(n##1) OTHER(n##2) OTHER(n##3) OTHER(n##4) OTHER(n##5) OTHER(n##6) OTHER(n##7)
#define NAMES(n) other##n##0, other##n##1, other##n##2, other##n##3, other##n##4, other##n##5, other##n##6, other##n##7
OTHERS(1) OTHERS(2) OTHERS(3) OTHERS(4) OTHERS(5) OTHERS(6) OTHERS(7) OTHERS(8) OTHERS(9)
static word (*volatile others[])(word) = {NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7), NAMES(8),
                                          NAMES(9)};

int main(void) {
  for (word i = 0; i < sizeof others / sizeof others[0]; ++i) CHECK(others[i](0) >= 10);
  for (int i = 0; i < 4; ++i) CHECK(through(seconds_now() + REPEAT_SECONDS));
  puts("stays ok");
}
