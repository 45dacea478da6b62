// A program whose speed depends on where two of its functions lie, by a simulated cost: each reads where it runs, and works
// longer at some places modulo 64 than at others. The work is a chain of multiplications, whose own place does not matter. With
// NULL_COST all places cost the same.
#include <stab/progress.h>
#include <stab/stab.h>
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink = 1;

__attribute__((always_inline)) static inline void burn(unsigned units) {
  uint64_t x = sink;
  for (unsigned i = 0; i < 8 * units; ++i) {
    x = x * 6364136223846793005u + 1;
    __asm__ volatile("" : "+r"(x));  // or several steps would become one
  }
  sink = x;
}

__attribute__((noinline)) static uintptr_t here(void) { return (uintptr_t)__builtin_return_address(0); }

#ifdef NULL_COST
static const unsigned tight_cost[4] = {100, 100, 100, 100}, wide_cost[2] = {100, 100};
#else
static const unsigned tight_cost[4] = {96, 106, 109, 93}, wide_cost[2] = {100, 108};
#endif

__attribute__((noinline)) void hot_tight(void) {
  burn(tight_cost[here() >> 4 & 3]);
  sink += 1;
}

__attribute__((noinline)) void hot_wide(void) {
  burn(wide_cost[here() >> 4 & 1]);
  sink += 2;
}

#define DUMMY(n)                                   \
  __attribute__((noinline)) void dummy_##n(void) { \
    burn(10);                                      \
    sink += here() == 1 ? n : n + 1;               \
  }
#define TEN(t) \
  DUMMY(t##0) DUMMY(t##1) DUMMY(t##2) DUMMY(t##3) DUMMY(t##4) DUMMY(t##5) DUMMY(t##6) DUMMY(t##7) DUMMY(t##8) DUMMY(t##9)
TEN(1)
TEN(2) TEN(3) TEN(4) TEN(5)
#define NAMES(t)                                                                                                                \
  dummy_##t##0, dummy_##t##1, dummy_##t##2, dummy_##t##3, dummy_##t##4, dummy_##t##5, dummy_##t##6, dummy_##t##7, dummy_##t##8, \
      dummy_##t##9
    static void (*const dummies[])(void) = {NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5)};

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  for (int i = 0; i < rounds; ++i) {
    hot_tight();
    hot_wide();
    for (int k = 0; k < 5; ++k) dummies[(i * 5 + k) % 50]();
#ifndef NO_POINT
    STAB_PROGRESS("block");
#endif
    stab_visit();
  }
  return 0;
}
