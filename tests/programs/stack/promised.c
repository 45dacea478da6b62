// -mstack-alignment=64: who enters from outside aligns the stack, and everybody below counts on it.
//
//   promised ROUNDS [moves]    prints a sum and how many locals were not aligned; with `moves` fails if none moved
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong, elsewhere;
static uintptr_t first;

__attribute__((noinline)) static unsigned leaf(const unsigned* from, int n) {
  _Alignas(64) unsigned own[16];
  for (int i = 0; i < 16; ++i) own[i] = from[i % n] * 2654435761u + (unsigned)i;
  __asm__ volatile("" : : "r"(own) : "memory");
  wrong += (uintptr_t)own % 64 != 0;
  return own[from[0] % 16];
}

__attribute__((noinline)) static unsigned middle(unsigned x, int depth) {
  _Alignas(64) unsigned own[32];
  for (int i = 0; i < 32; ++i) own[i] = x + (unsigned)i;
  __asm__ volatile("" : : "r"(own) : "memory");
  wrong += (uintptr_t)own % 64 != 0;
  if (depth == 3) {
    if (first == 0) first = (uintptr_t)own;
    elsewhere |= (uintptr_t)own != first;
  }
  unsigned sum = 0;
  for (int i = 0; i < 4; ++i) sum += leaf(own + i, 16 + i);
  return depth > 0 ? sum + middle(sum, depth - 1) : sum;
}

// Three arguments on the stack, which are put there by moving the stack pointer.
__attribute__((noinline)) static unsigned many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
                                               unsigned g, unsigned h, unsigned i) {
  return middle(a + b + c + d + e + f + g + h + i, 3);
}

__attribute__((noinline)) static unsigned work(unsigned x, unsigned i) {
  _Alignas(64) unsigned sums[16];
  __asm__ volatile("" : : "r"(sums) : "memory");
  wrong += (uintptr_t)sums % 64 != 0;
  sums[i % 16] = many(x, 1, 2, 3, 4, 5, 6, 7, i);
  return sums[i % 16];
}

__attribute__((force_align_arg_pointer)) int main(int argc, char** argv) {
  unsigned sum = 0;
  for (long i = atol(argv[1]); i > 0; --i) sum = work(sum, (unsigned)i);
  printf("%u %d\n", sum, wrong);
  if (argc > 2 && !elsewhere) return 3;
  return wrong != 0;
}
