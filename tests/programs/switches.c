/* Jump tables: dense, with holes, nested, two in one function, and cases that are impossible. */
#include "repeat.h"
NOINLINE static unsigned mix(unsigned kind, unsigned x) {
  switch (kind) {
    case 0: x += 17; break;
    case 1: x ^= x << 3; break;
    case 2: x = x * 31 + 1; break;
    case 3: x -= 5; break;
    case 5: x = (x >> 1) | (x << 31); break;
    case 6: switch (x % 6) { case 0: x += 1; break; case 1: x += 10; break; case 2: x *= 3; break;
                             case 3: return x; case 4: x ^= 0xff; break; case 5: x = ~x; break; } break;
    case 7: x += x / 3; break;
    case 9: return x + 2;
    default: x ^= 0x5555; break;
  }
  switch (x % 8) { case 0: return x + 3; case 1: return x * 5; case 2: return x - 9; case 3: return x ^ 1;
                   case 4: return x | 64; case 5: return x & ~2u; case 6: return x << 1; case 7: return x >> 2;
                   default: __builtin_unreachable(); }
}
int main(void) {
  unsigned expected = 0, round = 0;
  REPEAT {
    unsigned x = 1;
    for (unsigned i = 0; i < 5000; ++i) x = mix(i % 11, x) + i;
    if (round++ == 0) expected = x;
    CHECK(x == expected);
  }
  printf("%u\n", expected);
}
