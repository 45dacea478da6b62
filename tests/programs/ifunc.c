/* An ifunc: its resolver runs before main, calls and pointers go where it said. (lld 19 crashes on an ifunc in
   bitcode, in the plain build too.)
   not: -flto -flto=thin */
#include "repeat.h"
NOINLINE static int one(int x) { return x + 1; }
NOINLINE static int two(int x) { return x + 2; }
static volatile int choice = 1;
NOINLINE static int chosen(int x) { return choice + x; }
NOINLINE static int asked(void) { return chosen(0) + chosen(-1); } /* before thread-local storage, if static */
static int (*resolve(void))(int) { return asked() == 1 ? two : one; }
int add(int x) __attribute__((ifunc("resolve")));
static int (*volatile pointer)(int) = add;
int main(void) {
  REPEAT CHECK(add(3) == 5 && pointer(3) == 5 && one(3) == 4);
  puts("ifunc ok");
}
