/* Deep recursion, direct, mutual and through a pointer, fits the stack as it does in the plain program. */
#include "repeat.h"
static int (*volatile again)(int);
NOINLINE static int direct(int n) { volatile int here = n; return n == 0 ? 0 : direct(n - 1) + (here > 0); }
static int pong(int n);
NOINLINE static int ping(int n) { volatile int here = n; return n == 0 ? 0 : pong(n - 1) + (here > 0); }
NOINLINE static int pong(int n) { volatile int here = n; return n == 0 ? 0 : ping(n - 1) + (here > 0); }
NOINLINE static int indirect(int n) { volatile int here = n; return n == 0 ? 0 : again(n - 1) + (here > 0); }
int main(void) {
  again = indirect;
  REPEAT CHECK(direct(40000) == 40000 && ping(40000) == 40000 && indirect(40000) == 40000);
  puts("recursion ok");
}
