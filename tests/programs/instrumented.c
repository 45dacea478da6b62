/* Functions that report each entry and exit, with the function and where it was called from: there are so many pairs, and each
   entry has its exit.
   flags: -finstrument-functions
   other-compilers: once */
#include "repeat.h"
#define MOST 256
#define QUIET __attribute__((no_instrument_function))
void __cyg_profile_func_enter(void* function, void* from);
void __cyg_profile_func_exit(void* function, void* from);
static struct Pair {
  void *function, *from;
  long entered, left;
} pairs[MOST];
static int count;
QUIET static struct Pair* find(void* function, void* from) {
  for (int i = 0; i < count; i++)
    if (pairs[i].function == function && pairs[i].from == from) return &pairs[i];
  if (count == MOST) _Exit(9);
  pairs[count] = (struct Pair){function, from, 0, 0};
  return &pairs[count++];
}
QUIET void __cyg_profile_func_enter(void* function, void* from) { find(function, from)->entered++; }
QUIET void __cyg_profile_func_exit(void* function, void* from) { find(function, from)->left++; }
QUIET static double clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
NOINLINE static int leaf(int x) {
  __asm__ volatile("");
  return x + 1;
}
NOINLINE static int middle(int x) {
  const int y = leaf(x);
  return y + leaf(y);
}
NOINLINE static int top(int x) {
  const int sum = middle(x) + middle(x + 1);
  __asm__ volatile("");
  return sum;
}
QUIET int main(void) {
  int sum = 0;
  for (double end = clock_now() + REPEAT_SECONDS; clock_now() < end;) sum = top(3);
  for (int i = 0; i < count; i++) CHECK(pairs[i].entered == pairs[i].left);
  printf("%d: %d pairs\n", sum, count);
}
