/* Continuations that are copies of the stack, put back in assembly that moves the stack pointer by a distance, as Python's
   greenlets do. Their return addresses lie in no stack meanwhile. */
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include "repeat.h"

enum { kTimes = 60, kRoom = 512 };

struct Slice {
  jmp_buf env;
  char* from;
  size_t bytes;
  char copy[65536];
};

static struct Slice slice;
static char* base;

/* put_back(to, copy, bytes, env, distance): moves the stack pointer by a distance below `to`, and copies. */
void put_back(char* to, const char* copy, size_t bytes, void* env, intptr_t distance) __attribute__((noreturn));
__asm__(
    ".text\n.globl put_back\n.type put_back,@function\nput_back:\n"
    "addq %r8, %rsp\n"
    "movq %rcx, %r9\nmovq %rdx, %rcx\nrep movsb\n"
    "movq %r9, %rdi\nmovl $1, %esi\ncall longjmp@PLT\n"
    ".size put_back, .-put_back\n");

NOINLINE static int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE static int take(void) {
  slice.from = (char*)((uintptr_t)__builtin_frame_address(0) - kRoom);
  slice.bytes = (size_t)(base - slice.from);
  CHECK(slice.bytes <= sizeof slice.copy);
  if (setjmp(slice.env) != 0) return 1;
  memcpy(slice.copy, slice.from, slice.bytes);
  return 0;
}

NOINLINE static int inner(int n) {
  return take() + n * 3;
}
NOINLINE static int middle(int n) {
  return inner(n + 1) * 5 + n;
}
NOINLINE static int outer(int n) {
  return middle(n + 1) * 7 + n;
}

NOINLINE static void go_back(void) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const uintptr_t there = ((uintptr_t)slice.from - kRoom) & ~(uintptr_t)15;
  put_back(slice.from, slice.copy, slice.bytes, slice.env, (intptr_t)(there - here));
}

NOINLINE static void work(void) {
  const double end = seconds_now() + 0.005;
  while (seconds_now() < end) CHECK(fib(10) == 55);
}

/* By a pointer, as main stays in the first layout and holds it. */
static int (*volatile first)(int) = outer;

int main(void) {
  static int times, sum;
  base = __builtin_frame_address(0);
  work();
  sum += first(2);
  work();
  if (++times < kTimes) go_back();
  printf("%d\n", sum);
}
