/* Machine code in an array that the program makes executable switches stacks. A stack rests for so long that the images which
   its return addresses lie in would be used again, if the array were not recognized. */
#include <stdint.h>
#include <sys/mman.h>
#include "repeat.h"
enum { kStackBytes = 64 * 1024, kPageBytes = 4096 };
/* push rbp, rbx, r12 to r15; mov [rsi], rsp; mov rsp, [rdi]; pop the same; ret */
static const unsigned char code[kPageBytes] __attribute__((aligned(kPageBytes))) = {
    0x55, 0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x48, 0x89, 0x26, 0x48, 0x8b, 0x27,
    0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b, 0x5d, 0xc3};
static void (*volatile change)(void** to, void** from);
static void *main_stack, *other_stack;
static char stack[kStackBytes] __attribute__((aligned(64)));
static volatile long rests;
NOINLINE static long rest(int depth) {
  volatile long below = depth;
  if (depth > 0) return rest(depth - 1) + below;
  ++rests;
  change(&main_stack, &other_stack);
  return 0;
}
static void body(void) {
  for (;;) CHECK(rest(12) == 78);
}
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
  CHECK(mprotect((void*)code, sizeof code, PROT_READ | PROT_EXEC) == 0);
  change = (void (*)(void**, void**))(uintptr_t)code;
  void** top = (void**)(stack + kStackBytes);
  *--top = NULL;
  *--top = (void*)(uintptr_t)body; /* where ret leads; below it six registers */
  other_stack = top - 6;
  for (int round = 0; round < 3; ++round) {
    change(&other_stack, &main_stack);
    REPEAT CHECK(fib(15) == 610);
  }
  CHECK(rests == 3);
  puts("switches_by_data ok");
}
