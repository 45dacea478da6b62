// An exception out of a qsort callback, through libc's frames.
#include <cstdlib>
#include "repeat.h"
static int calls;
extern "C" NOINLINE int compare(const void* a, const void* b) {
  if (++calls == 40) throw 7;
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
NOINLINE int sort_until_thrown() {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = (i * 37) % 64;
  calls = 0;
  try { qsort(values, 64, sizeof(int), compare); } catch (int thrown) { return thrown; }
  return 0;
}
int main() {
  REPEAT CHECK(sort_until_thrown() == 7);
  puts("callback ok");
}
