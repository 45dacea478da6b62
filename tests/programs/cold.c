/* Cold parts: split off into functions of their own by the compiler, and cold blocks that are entered all the time.
   flags: -mllvm -hot-cold-split=true -mllvm -hotcoldsplit-threshold=-1 */
#include <stdarg.h>
#include "repeat.h"
static char text[256];
__attribute__((cold, noinline)) static void complain(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
}
static int classify(int x, int y) {
  if (__builtin_expect(x < 0, 0)) {
    complain("negative %d", x);
    complain("%s, with %d", "negative", y);
    return -1;
  }
  switch (x) {
    case 0: return y;
    case 1: return y * 3;
    case 2: return y ^ 85;
    case 3: return y - 7;
    case 4: complain("four %d", y); return 4;
    case 5: return y + 1000;
    default: break;
  }
  if (__builtin_expect(y > 90, 0)) {
    complain("large %d of %d", y, x);
    return text[0];
  }
  return x + y;
}
int main(void) {
  long first = 0;
  int (*volatile call)(int, int) = classify;
  REPEAT {
    long sum = 0;
    for (int x = -2; x < 9; ++x)
      for (int y = 0; y < 100; ++y) sum += call(x, y);
    CHECK(first == 0 || sum == first);
    first = sum;
  }
  printf("%ld\n", first);
}
