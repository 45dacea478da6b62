/* Threads of the program's own that a timer takes turns of: its handler keeps the interrupted registers and puts those of another
   thread in their place. Stacks and registers that rest hold addresses in images that no thread of the system's shows.
   other-compilers: once */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include "repeat.h"
#define THREADS 6
#define STACK (64 * 1024)
struct resting { gregset_t registers; struct _libc_fpstate vectors; int begun; };
static struct resting threads[THREADS];
static volatile long rounds[THREADS];
static _Alignas(16) char memory[THREADS][STACK];
static volatile int current, over;
NOINLINE static int deep(int depth) {
  volatile int here = depth;
  return depth > 0 ? deep(depth - 1) + (here == depth) : 0;
}
static void body(int id) {
  for (;;) {
    CHECK(deep(40) == 40);
    rounds[id] += 1;
  }
}
NOINLINE static void put(ucontext_t* at, const struct resting* thread) {
  memcpy(at->uc_mcontext.gregs, thread->registers, sizeof thread->registers);
  if (thread->begun) memcpy(at->uc_mcontext.fpregs, &thread->vectors, sizeof thread->vectors);
}
static void on_alarm(int number, siginfo_t* info, void* context) {
  (void)number; (void)info;
  ucontext_t* const interrupted = context;
  if (over) return;
  /* The last thread rests for many layouts, and so does main. */
  static unsigned turn;
  const int next = turn % 32 == 31 ? THREADS - 1 : turn % 8 == 7 ? 0 : 1 + (int)(turn % (THREADS - 2));
  ++turn;
  const greg_t segments = interrupted->uc_mcontext.gregs[REG_CSGSFS];
  memcpy(threads[current].registers, interrupted->uc_mcontext.gregs, sizeof threads[current].registers);
  memcpy(&threads[current].vectors, interrupted->uc_mcontext.fpregs, sizeof threads[current].vectors);
  threads[current].begun = 1;
  current = next;
  put(interrupted, &threads[next]);
  interrupted->uc_mcontext.gregs[REG_CSGSFS] = segments;
}
int main(void) {
  static char own[64 * 1024];
  stack_t stack = {.ss_sp = own, .ss_size = sizeof own};
  struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  struct itimerval every = {{0, 700}, {0, 700}};
  for (int id = 1; id < THREADS; ++id) {
    void** top = (void**)(memory[id] + STACK - 64);
    *--top = 0;
    threads[id].registers[REG_RSP] = (greg_t)top;
    threads[id].registers[REG_RIP] = (greg_t)body;
    threads[id].registers[REG_RDI] = id;
    threads[id].registers[REG_EFL] = 0x202;
  }
  CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
  setitimer(ITIMER_REAL, &every, NULL);
  for (double end = seconds_now() + 5 * REPEAT_SECONDS; seconds_now() < end; rounds[0] += 1) CHECK(deep(40) == 40);
  while (rounds[THREADS - 1] == 0) CHECK(deep(40) == 40);
  over = 1;
  for (int id = 0; id < THREADS; ++id) CHECK(rounds[id] > 0);
  puts("switches by signal ok");
}
