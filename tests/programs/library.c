/* A shared library of ours: opened, called both ways, closed, again and again.
   library: -DLIBRARY
   flags: -rdynamic -ldl
   not: -static */
#include <dlfcn.h>
#include "repeat.h"
int from_program(int x);
#ifdef LIBRARY
NOINLINE static int inner(int x) { return from_program(x) * 2; }
int in_library(int (*callback)(int), int x) { return inner(x) + callback(x); }
#else
NOINLINE int from_program(int x) { return x + 1; }
static int square(int x) { return x * x; }
int main(int argc, char** argv) {
  REPEAT {
    void* library = dlopen(argc > 1 ? argv[1] : "./library.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) puts(dlerror());
    CHECK(library != NULL);
    int (*call)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(library, "in_library");
    CHECK(call != NULL && call(square, 5) == 37);
    dlclose(library);
  }
  puts("library ok");
}
#endif
