/* A threaded interpreter: labels as values in a constant table, dispatch from every operation. */
#include "repeat.h"
NOINLINE static long interpret(const unsigned char* code, long x) {
  static const void* const labels[] = {&&halt, &&add, &&twice, &&less, &&jump};
  long steps = 0;
#define NEXT ++steps; goto *labels[*code++]
  NEXT;
add: x += *code++; NEXT;
twice: x *= 2; NEXT;
less: x -= *code++; NEXT;
jump: if (x < 1000) code -= *code; else ++code; NEXT;
halt: return x * 100000 + steps;
}
/* Labels that are stored and compared keep their addresses. */
NOINLINE static int stored(int which) {
  static void* saved;
  void* labels[] = {&&first, &&second};
  if (saved == NULL) saved = labels[0];
  CHECK(saved == &&first);
  goto *labels[which];
first: return 1;
second: return 2;
}
int main(void) {
  static const unsigned char code[] = {1, 7, 2, 3, 5, 4, 6, 0};
  const long expected = interpret(code, 1);
  REPEAT { CHECK(interpret(code, 1) == expected); CHECK(stored(0) == 1 && stored(1) == 2); }
  printf("%ld\n", expected);
}
