/* Variadic functions, long double, vectors on the stack, alloca and variable-length arrays. */
#include <alloca.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include "repeat.h"
typedef float Four __attribute__((vector_size(16)));
NOINLINE static double total(int n, ...) {
  va_list list;
  double sum = 0;
  va_start(list, n);
  for (int i = 0; i < n; ++i) sum += i % 2 ? va_arg(list, double) : va_arg(list, int);
  va_end(list);
  return sum;
}
NOINLINE static int aligned(int n) {
  Four four = {1, 2, 3, 4};
  _Alignas(64) char line[64];
  char* space = alloca(n);
  char array[n];
  memset(space, 1, n);
  memset(array, 2, n);
  CHECK((uintptr_t)line % 64 == 0 && (uintptr_t)&four % 16 == 0);
  return space[n - 1] + array[n - 1] + (int)four[3];
}
int main(void) {
  char text[64];
  REPEAT {
    CHECK(total(6, 1, 0.5, 2, 1.5, 3, 2.5) == 10.5);
    for (int n = 1; n < 200; n += 13) CHECK(aligned(n) == 7);
    snprintf(text, sizeof text, "%d %.2Lf %s", 5, 2.5L, "x");
    CHECK(strcmp(text, "5 2.50 x") == 0);
  }
  puts("variadic ok");
}
