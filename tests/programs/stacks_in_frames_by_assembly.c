/* Stacks that assembly switches to and that are arrays in the frame of another function than main, of the main thread and of
   another one: they have room for the program's frames, not for pads. */
#include <pthread.h>
#include <string.h>
#include "repeat.h"

enum { kCoroutines = 2, kStack = 12288, kAround = 4096 };
#define SWITCH "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15; mov %rsp,(%rdi); mov %rsi,%rsp; " \
               "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret"
__attribute__((naked)) static void naked(void** saved, void* to) { __asm__(SWITCH); }
void at_file_scope(void** saved, void* to);
__asm__("at_file_scope: " SWITCH);

static _Thread_local void *home, *rests[kCoroutines];
static _Thread_local long sums[kCoroutines];
static _Thread_local int current;
static int others_done;

NOINLINE static void rest(int self) {
  if (self == 0) naked(&rests[self], home);
  else at_file_scope(&rests[self], home);
}

/* No component of the call graph: calls go through a pointer. */
struct step {
  long (*call)(const struct step*, int, long);
};
#define STEP(name)                                                                           \
  NOINLINE static long name(const struct step* next, int self, long number) {                \
    volatile char frame[64];                                                                 \
    memset((char*)frame, self + 1, sizeof frame);                                            \
    const long below = next->call != NULL ? next->call(next + 1, self, number + 1) : number; \
    if (next->call == NULL && self < kCoroutines) rest(self);                                \
    for (size_t i = 0; i < sizeof frame; ++i) CHECK(frame[i] == self + 1);                   \
    return below * 3 + number;                                                               \
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

NOINLINE static void body(void) {
  const int self = current;
  for (;;) sums[self] = (sums[self] * 5 + first(steps, self, self)) & 0xffff;
}

NOINLINE static void resume(int self) {
  current = self;
  if (self == 0) naked(&home, rests[self]);
  else at_file_scope(&home, rests[self]);
}

static void prepare(int self, char* end) {
  void** top = (void**)(end - 64);
  *--top = NULL;
  *--top = (void*)body;
  rests[self] = top - 6;
}

static void on_array(void) {
  CHECK(first(steps, kCoroutines, 1) != 0);
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

NOINLINE static void take_turns(void) {
  struct {
    _Alignas(16) char low[kAround];
    char one[kStack];
    char between[kAround];
    char other[kStack];
    char high[kAround];
  } stacks;
  memset(stacks.low, 1, kAround);
  memset(stacks.between, 2, kAround);
  memset(stacks.high, 3, kAround);
  prepare(0, stacks.one + kStack);
  prepare(1, stacks.other + kStack);
  REPEAT {
    resume(0);
    resume(1);
    for (int i = 0; i < kAround; ++i) CHECK(stacks.low[i] == 1 && stacks.between[i] == 2 && stacks.high[i] == 3);
  }
}

NOINLINE static void run_on_arrays(void) {
  struct {
    _Alignas(16) char low[kAround];
    char stack[kStack];
  } stacks;
  memset(stacks.low, 4, kAround);
  REPEAT {
    run_on(stacks.stack + kStack);
    for (int i = 0; i < kAround; ++i) CHECK(stacks.low[i] == 4);
  }
}

static void* in_thread(void* nothing) {
  (void)nothing;
  run_on_arrays();
  take_turns();
  others_done = 1;
  return NULL;
}

int main(void) {
  run_on_arrays();
  take_turns();
  pthread_t other;
  CHECK(pthread_create(&other, NULL, in_thread, NULL) == 0 && pthread_join(other, NULL) == 0 && others_done == 1);
  puts("as built");
  return 0;
}
