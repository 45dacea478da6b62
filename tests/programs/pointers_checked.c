/* A call through a pointer of another type is noticed, whatever the pointer leads to.
   flags: -fsanitize=function -fsanitize-trap=function */
#include <setjmp.h>
#include <signal.h>
#include "repeat.h"
static volatile int zero;
NOINLINE static int right(int x) { return x + 1 + zero * x; }
NOINLINE static long wrong(char* x) { return *x + zero; }
static int (*volatile table[])(int) = {right, (int (*)(int))wrong};
static sigjmp_buf place;
static void trapped(int number) { siglongjmp(place, number); }
NOINLINE static int is_noticed(int which) {
  if (sigsetjmp(place, 1) != 0) return 1;
  return table[which](3) != 4;
}
int main(void) {
  CHECK(signal(SIGILL, trapped) != SIG_ERR);
  REPEAT CHECK(!is_noticed(0) && is_noticed(1));
  puts("pointers checked ok");
}
