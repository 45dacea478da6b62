/* A handler of crashes on a stack of its own that is small, with nothing behind it: it asks where it is. */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>

#include "forbids.h"
#include "repeat.h"

enum { kFrames = 32, kPage = 4096 };

static void* frames[kFrames];
static volatile int found = 0;

static void on_crash(int number) {
  (void)number;
  found = backtrace(frames, kFrames);
}

static int __attribute__((noinline)) crashes(int depth) {
  if (depth > 0) return crashes(depth - 1) + 1;
  raise(SIGUSR1);
  return 0;
}

int main(void) {
  backtrace(frames, kFrames);  // loads the unwinder, which takes more stack
  const size_t bytes = (getauxval(AT_MINSIGSTKSZ) + 7000 + kPage - 1) / kPage * kPage;
  if (handle_on_small_stack(bytes, on_crash) != 0) return 2;
  REPEAT {
    found = 0;
    CHECK(crashes(5) == 5 && found > 3);
  }
  puts("knows where it is");
  return 0;
}
