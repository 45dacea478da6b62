/* Points in a library that is linked, and in one that is loaded later. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <stab/progress.h>

void library_works(int times);

int main(int argc, char** argv) {
  library_works(7);
  for (int i = 1; i < argc; ++i) {
    void* loaded = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (loaded == NULL) return puts(dlerror()), 1;
    void (*works)(int) = (void (*)(int))dlsym(loaded, "library_works");
    if (works == NULL) return 1;
    works(5);
  }
  STAB_PROGRESS("in program");
  puts("done");
  return 0;
}
