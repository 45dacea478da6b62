// Fibers: without a word to the runtime they have no pads; registered and entered they have, and the thread's own
// stack has its own again afterwards.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <stab/stab.h>

enum { kStackBytes = 256 * 1024, kLayouts = 40 };

static char stack[kStackBytes] __attribute__((aligned(4096)));
static ucontext_t main_context, fiber_context;
static int enters;
static int moved;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("FAIL: %s\n", what);
  exit(1);
}

__attribute__((noinline)) static uintptr_t leaf(void) {
  char local;
  uintptr_t address = (uintptr_t)&local;
  __asm__ volatile("" : "+r"(address) : : "memory");
  return address;
}
__attribute__((noinline)) static uintptr_t caller(void) {
  const uintptr_t address = leaf();
  __asm__ volatile("");
  return address;
}

static int count_moves(void) {
  int moves = 0;
  for (int i = 0; i < kLayouts; ++i) {
    const uintptr_t before = caller();
    expect(stab_new_layout() == STAB_OK, "a new layout");
    moves += caller() != before;
  }
  return moves;
}

static void fiber(void) {
  if (enters) expect(stab_fiber_enter(stack) == STAB_OK, "enter");
  expect(caller() > (uintptr_t)stack && caller() < (uintptr_t)stack + kStackBytes, "a fiber's frames are on its stack");
  moved = count_moves();
  swapcontext(&fiber_context, &main_context);
}

static int moves_on_fiber(void) {
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = sizeof stack;
  fiber_context.uc_link = &main_context;
  makecontext(&fiber_context, fiber, 0);
  swapcontext(&main_context, &fiber_context);
  return moved;
}

int main(void) {
  expect(moves_on_fiber() == 0, "an unknown stack has no pads");
  expect(stab_fiber_enter(stack) == STAB_NOT_BEGUN, "enter before register");
  expect(stab_fiber_register(NULL, 1) == STAB_BAD_ARGUMENT, "no stack");
  expect(stab_fiber_register(stack, sizeof stack) == STAB_OK, "register");
  expect(stab_fiber_register(stack, sizeof stack) == STAB_BAD_ARGUMENT, "register twice");
  enters = 1;
  expect(moves_on_fiber() > 30, "a registered fiber has pads");
  expect(stab_fiber_enter(NULL) == STAB_OK, "back on the thread's stack");
  expect(stab_fiber_enter(NULL) == STAB_NOT_BEGUN, "back once");
  expect(count_moves() > 30, "the thread's own stack has its pads");
  expect(stab_fiber_unregister(stack) == STAB_OK, "unregister");
  expect(stab_fiber_unregister(stack) == STAB_NOT_BEGUN, "unregister twice");
  printf("fibers ok\n");
  return 0;
}
