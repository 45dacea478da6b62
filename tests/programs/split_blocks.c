/* flags: -fbasic-block-sections=all -fuse-ld=lld -Wl,--optimize-bb-jumps
   not: -flto the_linker_is_not_told

   Each block has a section of its own, and the linker takes out jumps to the next one. */
#include "repeat.h"
NOINLINE static long step(long x, long y) {
  for (long i = 0; i < x; ++i) {
    if (i % y == 3)
      y += i * 2 + 1;
    else if (i % 7 == 1)
      y ^= i | 1;
    else
      y += 3;
  }
  return y;
}
NOINLINE static long choose(int x) {
  switch (x) {
    case 0: return 3;
    case 1: return step(3, 2);
    case 2: return step(4, 3) + 1;
    case 3: return 7 + x;
    case 4: return step(9, 4) * 2;
    default: return step(200, x);
  }
}
static volatile long noted;
NOINLINE static void note(long x) { noted += x & 1; }
/* Its first block ends with a call, and the loop follows: no pad comes in between. */
__attribute__((disable_sanitizer_instrumentation)) NOINLINE static long loop_behind_call(long x) {
  note(x);
  for (long i = 0; i < 9 + (x & 1); ++i) x = x * 5 + noted % 2 - noted % 2;
  return x;
}
/* Something that moves whatever becomes of the others. */
static long straight(long x) { return x * 1000003 + 1; }
static long (*volatile through)(long) = straight;
int main(void) {
  long expected = 0;
  for (int i = 0; i < 9; ++i) expected += choose(i);
  REPEAT {
    long sum = 0;
    for (int i = 0; i < 9; ++i) sum += choose(i);
    CHECK(sum == expected && through(2) == 2000007 && loop_behind_call(1) == 9765625);
  }
  printf("%ld\n", expected);
}
