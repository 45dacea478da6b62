/* setjmp and longjmp across frames of any age. */
#include <setjmp.h>
#include "repeat.h"
static jmp_buf where;
NOINLINE static void dive(int depth) {
  volatile char frame[100];
  frame[0] = (char)depth;
  if (depth == 0) longjmp(where, 5);
  dive(depth - 1);
  frame[1] = frame[0];
}
NOINLINE static int protect(int depth) {
  volatile int tries = 0;
  const int code = setjmp(where);
  if (code == 0) dive(depth);
  ++tries;
  return code + tries;
}
int main(void) {
  int depth = 0;
  REPEAT CHECK(protect(depth++ % 50) == 6);
  puts("setjmp ok");
}
