/* Tail calls, direct and through pointers, between functions that all move. */
#include "repeat.h"
typedef long Step(long n, long sum);
static Step even, odd, by_pointer;
static Step* volatile steps[] = {even, odd, by_pointer};
NOINLINE static long even(long n, long sum) {
  if (n == 0) return sum;
  __attribute__((musttail)) return odd(n - 1, sum + 2);
}
NOINLINE static long odd(long n, long sum) {
  if (n == 0) return sum;
  __attribute__((musttail)) return by_pointer(n - 1, sum + 1);
}
NOINLINE static long by_pointer(long n, long sum) {
  if (n == 0) return sum;
  __attribute__((musttail)) return steps[n % 3](n - 1, sum + 3);
}
int main(void) {
  const long expected = even(1000, 0);
  REPEAT CHECK(even(1000, 0) == expected);
  printf("%ld\n", expected);
}
