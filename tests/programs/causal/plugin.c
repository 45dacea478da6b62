/* Half of the work is in a library that is loaded when the program runs: plugin LIBRARY OPTIONS. With -DLIBRARY the library. */
#include "work.h"

LINE(line_b)

#ifndef LIBRARY
#include <dlfcn.h>

LINE(line_a)

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  read_options(argc - 1, argv + 1, line_a);
  void* const library = dlopen(argv[1], RTLD_NOW);
  uint64_t (*const other)(uint64_t) = library == NULL ? NULL : (uint64_t(*)(uint64_t))dlsym(library, "line_b");
  if (other == NULL) return 2;
  const uint64_t mine = rounds("line_a", 500), its = rounds("line_b", 500);
  long done = 0;
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    line_a(mine);
    other(its);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  printf("%ld rounds\n", done);
  return 0;
}
#endif
