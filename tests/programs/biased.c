/* Arrays that count from one or three, right behind the jump table of the function that reads them. */
#include "repeat.h"
volatile long sink;
NOINLINE static long add(long a) { __asm__ volatile("" : "+r"(a)); return a + 1; }
static const double weights[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
const double* from_one = weights - 1;
NOINLINE static long choose(long which, long at) {
  const double weight = weights[at - 3];
  long result;
  switch (which) {
    case 0: result = add(1); break;
    case 1: sink = 7; result = add(9) * 3; break;
    case 2: result = sink + 5; break;
    case 3: sink = add(2); result = 1; break;
    case 4: result = add(4) ^ 3; break;
    case 5: sink = 2; result = add(33) + 7; break;
    case 6: result = sink * 9; break;
    case 7: result = add(77) * sink; break;
    default: result = 0;
  }
  return result + (long)weight;
}
int main(void) {
  long first = 0;
  REPEAT {
    long sum = 0;
    sink = 0;
    for (long n = 0; n < 9; ++n) for (long i = 3; i < 19; ++i) sum += choose((n + i) % 9, i);
    if (first == 0) first = sum;
    CHECK(sum == first);
    CHECK(from_one[16] == 16);
  }
  printf("biased %ld\n", first);
}
