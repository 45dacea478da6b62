/* Tools that look at code addresses: dladdr and backtrace name the function, whatever copy it runs in.
   flags: -rdynamic -ldl
   not: -static */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>
#include "repeat.h"
NOINLINE int inner(void** frames, int size) { int n = backtrace(frames, size); __asm__ volatile("" : : : "memory"); return n; }
NOINLINE int outer(void** frames, int size) { int n = inner(frames, size); __asm__ volatile("" : : : "memory"); return n; }
int main(void) {
  REPEAT {
    void* frames[32];
    Dl_info info;
    const int depth = outer(frames, 32);
    CHECK(depth >= 4);
    CHECK(dladdr((void*)inner, &info) != 0 && info.dli_sname != NULL && strcmp(info.dli_sname, "inner") == 0);
  }
  puts("addresses ok");
}
