// The half of the cross-file recursion that the compiler of the other half can't see.
#include "depth.h"

__attribute__((noinline)) long there(long n) {
  char frame[kFrameBytes];
  use(frame, n);
  const long result = here(n + 1) + 1;
  use(frame, n);
  return result;
}
