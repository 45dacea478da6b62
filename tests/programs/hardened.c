/* A function that compares its return addresses beside others that don't: it stays where it is, they move. */
#include "repeat.h"
NOINLINE static long pick(const long* from, long at, long count) { return at < count ? from[at] : -1; }
__attribute__((speculative_load_hardening)) NOINLINE static long sum(const long* from, long count) {
  long total = 0;
  for (long i = 0; i < count + 2; ++i) total += pick(from, i, count);
  return total;
}
int main(void) {
  long values[20];
  for (long i = 0; i < 20; ++i) values[i] = i * i;
  REPEAT CHECK(sum(values, 20) == 2468);
  puts("2468");
}
