/* A handler of crashes on a stack of its own that is small, with nothing behind it: it asks where it is. */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

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
  char* const room = mmap(NULL, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED || mprotect(room, kPage, PROT_NONE) != 0) return 2;
  const stack_t own = {.ss_sp = room + kPage, .ss_flags = 0, .ss_size = bytes};
  if (sigaltstack(&own, NULL) != 0) return 2;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  REPEAT {
    found = 0;
    CHECK(crashes(5) == 5 && found > 3);
  }
  puts("knows where it is");
  return 0;
}
