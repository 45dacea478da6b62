/* A frame that stays in its image, alone and far up a deep stack, calls from ever new places of the stack: the hardest
   case for who looks at the stack of a running thread (runtime/helper/sampler.cc). */
#include <string.h>
#include "repeat.h"

NOINLINE static int far_down(volatile const char* caller) {
  volatile char room[80 << 10];
  room[0] = *caller;
  for (int i = 0; i < 2000; ++i) room[0] = (char)(room[0] ^ i);
  return room[0] == *caller;
}

/* The image of this call's epoch is entered by nobody else: main called it through a pointer, from an older one. */
NOINLINE static int stays(double until) {
  int right = 0, calls = 0;
  while (seconds_now() < until) {
    const size_t bytes = ++calls % 3 == 0 ? 16 : calls % 3 == 1 ? 24 << 10 : 7 << 10;
    char moved[bytes];
    memset(moved, calls & 0x7f, bytes);
    right += far_down(moved);
  }
  return right == calls;
}
static int (*volatile through)(double) = stays;

int main(void) {
  REPEAT CHECK(through(seconds_now() + 0.02));
  puts("deep stack ok");
}
