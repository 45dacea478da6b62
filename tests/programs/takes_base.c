/* Assembly that uses rbx beside locals of a large alignment: a frame that is aligned and whose size isn't fixed keeps its
   place in rbx. */
#include "repeat.h"
NOINLINE static int sum(const volatile int* of, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += of[i];
  return total;
}
static int (*volatile through)(const volatile int*, int) = sum;

NOINLINE static int clobbers(int x) {
  _Alignas(64) volatile int aligned[16];
  for (int i = 0; i < 16; ++i) aligned[i] = x;
  const int before = through(aligned, 16);
  __asm__ volatile("mov $1, %%ebx" : : : "rbx");
  return aligned[3] == x ? before + through(aligned, 16) : -1;
}
NOINLINE static int names(int x) {
  _Alignas(64) volatile int aligned[16];
  unsigned a = 0, b = 0, c = 0, d = 0;
  for (int i = 0; i < 16; ++i) aligned[i] = x;
  const int before = through(aligned, 16);
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return aligned[3] == x && a + b + c + d != 0 ? before + through(aligned, 16) : -1;
}

int main(void) {
  REPEAT CHECK(clobbers(2) == 64 && names(3) == 96);
  puts("takes base ok");
}
