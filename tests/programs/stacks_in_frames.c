/* Stacks of contexts, of signals, of children and for assembly that are arrays in main's frame: they have room for the program's
   frames, not for pads. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include "repeat.h"

enum { kContexts = 2, kStack = 12288, kAround = 4096 };
static ucontext_t scheduler, contexts[kContexts];
static long sums[kContexts];
static volatile long handled;

/* No component of the call graph: calls go through a pointer. */
struct step {
  long (*call)(const struct step*, int, long);
};
#define STEP(name)                                                                          \
  NOINLINE static long name(const struct step* next, int self, long number) {               \
    volatile char frame[64];                                                                \
    memset((char*)frame, self + 1, sizeof frame);                                           \
    const long below = next->call != NULL ? next->call(next + 1, self, number + 1) : number; \
    if (next->call == NULL && self < kContexts) swapcontext(&contexts[self], &scheduler);   \
    for (size_t i = 0; i < sizeof frame; ++i) CHECK(frame[i] == self + 1);                  \
    return below * 3 + number;                                                              \
  }
STEP(first)
STEP(second)
STEP(third)
STEP(fourth)
STEP(fifth)
STEP(sixth)
STEP(seventh)
STEP(last)
static const struct step steps[] = {{second}, {third}, {fourth}, {fifth}, {sixth}, {seventh}, {last}, {NULL}};

static void run(int self) {
  for (;;) sums[self] = (sums[self] * 5 + first(steps, self, self)) & 0xffff;
}

static void on_signal(int signal) {
  handled += first(steps, kContexts, signal) != 0;
}

static int child(void* nothing) {
  (void)nothing;
  return first(steps, kContexts, 1) == 0;
}

static void on_array(void) {
  CHECK(first(steps, kContexts, 1) != 0);
}

/* Calls it on another stack. */
NOINLINE static void run_on(char* end) {
  __asm__ volatile("movq %%rsp, %%rbx\n\tmovq %0, %%rsp\n\tcallq *%1\n\tmovq %%rbx, %%rsp"
                   :
                   : "r"(end), "r"(on_array)
                   : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1",
                     "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                     "xmm14", "xmm15");
}

NOINLINE static void make(ucontext_t* context, char* stack, int self) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = kStack;
  context->uc_link = NULL;
  makecontext(context, (void (*)(void))run, 1, self);
}

int main(void) {
  struct {
    _Alignas(16) char for_assembly_low[kAround];
    char for_assembly[kStack];
    char low[kAround];
    char one[kStack];
    char between[kAround];
    char other[kStack];
    char high[kAround];
    char of_child[kStack];
    char highest[kAround];
    char of_signals[kStack];
  } stacks;
  memset(stacks.for_assembly_low, 5, kAround);
  memset(stacks.low, 1, kAround);
  memset(stacks.between, 2, kAround);
  memset(stacks.high, 3, kAround);
  memset(stacks.highest, 4, kAround);
  make(&contexts[0], stacks.one, 0);
  make(&contexts[1], stacks.other, 1);
  const stack_t of_signals = {.ss_sp = stacks.of_signals, .ss_size = kStack};
  CHECK(sigaltstack(&of_signals, NULL) == 0);
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  long rounds = 0;
  REPEAT {
    swapcontext(&scheduler, &contexts[rounds++ % kContexts]);
    raise(SIGUSR1);
    run_on(stacks.for_assembly + kStack);
    for (int i = 0; i < kAround; ++i) CHECK(stacks.for_assembly_low[i] == 5);
    const pid_t one = clone(child, stacks.of_child + kStack, CLONE_VM | SIGCHLD, NULL);
    int status = 0;
    CHECK(one > 0 && waitpid(one, &status, 0) == one && status == 0);
    for (int i = 0; i < kAround; ++i)
      CHECK(stacks.low[i] == 1 && stacks.between[i] == 2 && stacks.high[i] == 3 && stacks.highest[i] == 4);
  }
  CHECK(handled == rounds);
  const stack_t none = {.ss_flags = SS_DISABLE};
  CHECK(sigaltstack(&none, NULL) == 0);
  puts("as built");
  return 0;
}
