/* What a resolver of an IFUNC gives is the same function as where code or data name it. It has run before any pointer is led.
   flags: -fPIC -fuse-ld=bfd
   not: -fno-pie -static -flto -Oz    the address of an IFUNC is a stub's there, or the linker is another one */
#include "repeat.h"
typedef int (*Function)(int);
static volatile int zero;
NOINLINE static int first(int x) { return x + 1 + zero * x; }
NOINLINE static int second(int x) { return x * 2 + zero * x; }
NOINLINE static int third(int x) { return x * 3 + zero * x; }
static Function volatile table[] = {first, second, third};
static Function resolve_first(void) { return zero ? third : first; }
static Function resolve_second(void) { return zero ? third : table[1 - zero]; }
int by_code(int) __attribute__((ifunc("resolve_first")));
int by_table(int) __attribute__((ifunc("resolve_second")));
static Function volatile resolved[] = {by_code, by_table};
NOINLINE static Function made(int which) { return which == 0 ? first : which == 1 ? second : third; }
int main(void) {
  REPEAT {
    for (int i = 0; i < 2; ++i) CHECK(resolved[i] == made(i) && resolved[i] == table[i] && resolved[i](5) == made(i)(5));
    CHECK(table[2] == made(2) && table[2](2) == 6);
  }
  puts("pointers resolved ok");
}
