/* ucontext fibers: suspended stacks hold return addresses that no thread shows. */
#include <ucontext.h>
#include "repeat.h"
#define FIBERS 4
static ucontext_t main_context, fibers[FIBERS];
static char stacks[FIBERS][64 * 1024];
static long counts[FIBERS];
NOINLINE static void rest(int id, int depth) {
  if (depth > 0) { rest(id, depth - 1); counts[id] += 1; return; }
  swapcontext(&fibers[id], &main_context);
}
static void body(int id) { for (;;) rest(id, id * 3 + 1); }
int main(void) {
  for (int i = 0; i < FIBERS; ++i) {
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = stacks[i];
    fibers[i].uc_stack.ss_size = sizeof stacks[i];
    makecontext(&fibers[i], (void (*)(void))body, 1, i);
  }
  long rounds = 0;
  REPEAT { for (int i = 0; i < FIBERS; ++i) swapcontext(&main_context, &fibers[i]); ++rounds; }
  for (int i = 0; i < FIBERS; ++i) CHECK(counts[i] == (rounds - 1) * (i * 3 + 1));
  puts("fibers ok");
}
