/* Coroutines without ucontext or assembly: each begins in a signal handler on a stack of its own, whose setjmp is its
   first suspension. Between its turns others run through many layouts. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include "repeat.h"
static sigjmp_buf scheduler, suspended;
static volatile int turn;
NOINLINE static void yield(void) { if (sigsetjmp(suspended, 0) == 0) siglongjmp(scheduler, 1); }
NOINLINE static int innermost(int n) { turn = n; yield(); return turn + 1; }
NOINLINE static int middle(int n) { return innermost(n) + 1; }
NOINLINE static int outer(int n) { return middle(n) + 1; }
NOINLINE static void body(void) { for (int n = 1;; ++n) if (outer(n) != n + 3) abort(); }
static void begin(int signal) { (void)signal; if (sigsetjmp(suspended, 0) != 0) body(); }
NOINLINE static void resume(void) { if (sigsetjmp(scheduler, 0) == 0) siglongjmp(suspended, 1); }
NOINLINE static int leaf(int x) { return x * 3; }
NOINLINE static int work(int x) { return leaf(x) + leaf(x + 1); }
int main(void) {
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  struct sigaction action = {.sa_handler = begin, .sa_flags = SA_ONSTACK};
  if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 1;
  raise(SIGUSR1);
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, NULL);
  const struct timespec rest = {0, 1000000};
  for (int turns = 1; turns <= 8; ++turns) {
    resume();
    CHECK(turn == turns);
    for (int i = 0; i < 30; ++i) {
      CHECK(work(i) == 6 * i + 3);
      nanosleep(&rest, NULL);
    }
  }
  puts("each came back to where it was");
}
