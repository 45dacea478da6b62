// Spends half a second in functions that call each other.
#include <stdio.h>
#include <time.h>

__attribute__((noinline)) static unsigned step(unsigned x) { return x * 1664525u + 1013904223u; }
__attribute__((noinline)) static unsigned run(unsigned x, int count) {
  for (int i = 0; i < count; ++i) x = step(x);
  return x;
}

int main(void) {
  unsigned x = 1;
  const clock_t end = clock() + CLOCKS_PER_SEC / 2;
  while (clock() < end) x = run(x, 100000);
  printf("%d\n", x == 0);
  return 0;
}
