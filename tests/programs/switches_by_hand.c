/* Coroutines whose switch is our own: a naked function, assembly without a type, or instructions in an array. Suspended
   stacks hold return addresses into images that no thread shows. */
#include "repeat.h"
#define COROUTINES 12
#define STACK (16 * 1024)
typedef void switcher(void** saved, void* to);
#ifndef LOAD
#define LOAD "mov %rsi,%rsp; "
#endif
#define SWITCH "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15; mov %rsp,(%rdi); " LOAD \
               "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret"
#ifndef SWITCHER
#define SWITCHER __attribute__((naked)) static void naked(void** saved, void* to) { __asm__(SWITCH); }
#endif
SWITCHER
#ifndef ONE_WAY
void typeless(void** saved, void* to);
__asm__("typeless: " SWITCH);
__attribute__((section(".text"), aligned(16))) static const unsigned char bytes[] = {
    0x55, 0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x48, 0x89, 0x27,
    0x48, 0x89, 0xf4, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b, 0x5d, 0xc3};
#endif
static switcher* change;
static void *main_stack, *stacks[COROUTINES];
static _Alignas(16) char memory[COROUTINES][STACK];
static long counts[COROUTINES], resumed[COROUTINES];
static int current;
NOINLINE static void rest(int id, int depth) {
  if (depth > 0) { rest(id, depth - 1); counts[id] += 1; return; }
  change(&stacks[id], main_stack);
}
NOINLINE static void body(void) { const int id = current; for (;;) rest(id, id + 1); }
NOINLINE static void resume(int id) { current = id; ++resumed[id]; change(&main_stack, stacks[id]); }
int main(void) {
#ifdef ONE_WAY
  switcher* const ways[] = {naked, naked, naked};
#else
  switcher* const ways[] = {naked, typeless, (switcher*)(const void*)bytes};
#endif
  for (int id = 0; id < COROUTINES; ++id) {
    void** top = (void**)(memory[id] + STACK - 64);
    *--top = 0;
    *--top = (void*)body;
    stacks[id] = top - 6;
  }
  change = naked;
  for (int id = 0; id < COROUTINES; ++id) resume(id);
  long rounds = 0, naps = 0;
  double next = seconds_now();
  /* One of the upper half is woken every 4 ms, so that each sleeps through some 24 layouts. */
  REPEAT {
    change = ways[rounds++ % 3];
    for (int id = 0; id < COROUTINES / 2; ++id) resume(id);
    if (seconds_now() < next) continue;
    next += 0.004;
    resume(COROUTINES / 2 + (int)(naps++ % (COROUTINES / 2)));
  }
  for (int id = 0; id < COROUTINES; ++id) resume(id);
  for (int id = 0; id < COROUTINES; ++id) CHECK(counts[id] == (resumed[id] - 1) * (id + 1));
  puts("switches by hand ok");
}
