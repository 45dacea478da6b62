/* 24 MB of text: images of that size, of which only a few fit the ring. Two variants: one takes ten seconds.
   not: -flto -Os -Oz -O0 -static */
#include "repeat.h"
#define FUNCTION(n)                                                                              \
  NOINLINE static unsigned f##n(unsigned x) {                                                    \
    if (x % 3 == 0) __asm__ volatile(".skip 24576, 0x90");                                       \
    return x * 5u + n##u;                                                                        \
  }
#define EIGHT(n) \
  FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) FUNCTION(n##4) FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7)
#define MANY(n) EIGHT(n##0) EIGHT(n##1) EIGHT(n##2) EIGHT(n##3) EIGHT(n##4) EIGHT(n##5) EIGHT(n##6) EIGHT(n##7)
MANY(10)
MANY(20) MANY(30) MANY(40) MANY(50) MANY(60) MANY(70) MANY(80) MANY(11) MANY(21) MANY(31) MANY(41) MANY(51) MANY(61) MANY(71)
    MANY(81)
#define NAME(n) f##n,
#define EIGHT_NAMES(n) NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3) NAME(n##4) NAME(n##5) NAME(n##6) NAME(n##7)
#define MANY_NAMES(n) \
  EIGHT_NAMES(n##0)   \
  EIGHT_NAMES(n##1) EIGHT_NAMES(n##2) EIGHT_NAMES(n##3) EIGHT_NAMES(n##4) EIGHT_NAMES(n##5) EIGHT_NAMES(n##6) EIGHT_NAMES(n##7)
        static unsigned (*const functions[])(unsigned) = {
            MANY_NAMES(10) MANY_NAMES(20) MANY_NAMES(30) MANY_NAMES(40) MANY_NAMES(50) MANY_NAMES(60) MANY_NAMES(70)
                MANY_NAMES(80) MANY_NAMES(11) MANY_NAMES(21) MANY_NAMES(31) MANY_NAMES(41) MANY_NAMES(51) MANY_NAMES(61)
                    MANY_NAMES(71) MANY_NAMES(81)};
enum { COUNT = sizeof functions / sizeof functions[0] };
int main(void) {
  unsigned first = 0;
  REPEAT {
    unsigned x = 1;
    for (int i = 0; i < COUNT; ++i) x = functions[i](x);
    CHECK(first == 0 || x == first);
    first = x;
  }
  printf("%d functions: %u\n", COUNT, first);
}
