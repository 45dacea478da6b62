// Names of functions that run in images: dladdr of a return address, backtrace_symbols, and dlsym(RTLD_NEXT) and dlvsym from
// moved code. Prints names, never addresses.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

NOINLINE void innermost(void) {
  void *frames[16];
  const int count = backtrace(frames, 16);
  for (int i = 0; i < count && i < 4; ++i) {
    Dl_info info;
    const int known = dladdr(frames[i], &info);
    printf("%s ", known && info.dli_sname ? info.dli_sname : "?");
  }
  Dl_info info;
  const int known = dladdr(__builtin_return_address(0), &info);
  printf("returns to %s, next strlen %s\n", known && info.dli_sname ? info.dli_sname : "?",
         dlsym(RTLD_NEXT, "strlen") != NULL ? "found" : dlerror());
}
NOINLINE void look_up_version(void) {
  printf("puts of that version %s\n", dlvsym(RTLD_NEXT, "puts", "GLIBC_2.2.5") != NULL ? "found" : dlerror());
}
NOINLINE void look_deep(void) {
  void *frames[2000];
  const int count = backtrace(frames, 2000);
  Dl_info info;
  printf("deep: %s\n", count > 0 && dladdr(frames[0], &info) && info.dli_sname ? info.dli_sname : "?");
}
NOINLINE void middle(void) {
  innermost();
  look_up_version();
  look_deep();
  __asm__ volatile("");
}
NOINLINE void outer(void) {
  middle();
  __asm__ volatile("");
}

int main(void) {
  const struct timespec rest = {0, 2000000};
  for (int i = 0; i < 20; ++i) {
    outer();
    nanosleep(&rest, NULL);
  }
  return 0;
}
