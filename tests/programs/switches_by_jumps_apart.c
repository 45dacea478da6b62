/* The same coroutines, where the function that saves its place calls another one to leave, which might return as well.
   other-compilers: once */
#include <setjmp.h>
#include "repeat.h"
static volatile int may_leave = 1;
NOINLINE static void leave(jmp_buf* place) {
  if (may_leave) longjmp(*place, 1);
}
#define LEAVE(place) leave(&(place))
#include "switches_by_jumps.c"
