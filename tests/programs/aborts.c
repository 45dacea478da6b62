/* Death by a signal is seen by the parent as such.
   expect-exit: -6 */
#include "repeat.h"
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
  REPEAT CHECK(fib(12) == 144);
  puts("about to abort");
  fflush(stdout);
  abort();
}
