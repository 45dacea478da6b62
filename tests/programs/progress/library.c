/* A library with points; another compiler may have made it. */
#include <stab/progress.h>

void library_works(int times) {
  for (int i = 0; i < times; ++i) STAB_PROGRESS("in library");
}
