/* Machine code that the program makes while it runs switches stacks. szc sees no such code in the file: its bytes are kept in
   another form there. Sixty frames of sixty functions rest for so long that the images which their return addresses lie in would
   be used again. A second stack takes turns with main's all the time. */
#include <stdint.h>
#include <sys/mman.h>
#include "repeat.h"
enum { kStackBytes = 64 * 1024, kPageBytes = 4096, kForm = 0x5a };
/* Each byte xor kForm: push rbp, rbx, r12 to r15; mov [rsi], rsp; mov rsp, [rdi]; pop the same; ret */
static const unsigned char kept[] = {0x0f, 0x09, 0x1b, 0x0e, 0x1b, 0x0f, 0x1b, 0x0c, 0x1b, 0x0d, 0x12, 0xd3, 0x7c, 0x12,
                                     0xd1, 0x7d, 0x1b, 0x05, 0x1b, 0x04, 0x1b, 0x07, 0x1b, 0x06, 0x01, 0x07, 0x99};
static void (*volatile change)(void** to, void** from);
static void *main_stack, *resting, *busy;
static volatile long rests, turns;
static volatile unsigned char form = kForm;

NOINLINE static long rest(long x) {
  ++rests;
  change(&main_stack, &resting);
  return x + 1;
}
#define FRAME(name, next, factor)            \
  NOINLINE static long name(long x) {        \
    volatile long below = x;                 \
    return next(x * factor + 1) ^ below;     \
  }
#define TEN(name, next, factor)              \
  FRAME(name##9, next, factor)               \
  FRAME(name##8, name##9, factor + 2)        \
  FRAME(name##7, name##8, factor + 4)        \
  FRAME(name##6, name##7, factor + 6)        \
  FRAME(name##5, name##6, factor + 8)        \
  FRAME(name##4, name##5, factor + 10)       \
  FRAME(name##3, name##4, factor + 12)       \
  FRAME(name##2, name##3, factor + 14)       \
  FRAME(name##1, name##2, factor + 16)       \
  FRAME(name##0, name##1, factor + 18)
TEN(f, rest, 3)
TEN(e, f0, 5)
TEN(d, e0, 7)
TEN(c, d0, 9)
TEN(b, c0, 11)
TEN(a, b0, 13)
static long expected;
static void rests_long(void) {
  for (;;) CHECK(a0(1) == expected);
}
static void takes_turns(void) {
  for (;;) {
    ++turns;
    change(&main_stack, &busy);
  }
}
static void* stack_of(void (*body)(void)) {
  unsigned char* stack = mmap(NULL, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  void** top = (void**)(stack + kStackBytes);
  *--top = NULL;
  *--top = (void*)(uintptr_t)body; /* where ret leads; below it six registers */
  return top - 6;
}
static void (*make(const unsigned char* bytes, size_t size))(void**, void**) {
  unsigned char* made = mmap(NULL, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t i = 0; i < size; ++i) made[i] = bytes[i] ^ form;
  CHECK(mprotect(made, kPageBytes, PROT_READ | PROT_EXEC) == 0);
  return (void (*)(void**, void**))(uintptr_t)made;
}
static void returns(void** to, void** from) { (void)to, (void)from; }
NOINLINE static int fib(int n) { __asm__ volatile(""); return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
  change = returns;
  expected = a0(1);
  rests = 0;
  change = make(kept, sizeof kept);
  resting = stack_of(rests_long), busy = stack_of(takes_turns);
  REPEAT CHECK(fib(15) == 610); /* main stays in the first image, so what rests is to be in another */
  for (int round = 0; round < 3; ++round) {
    change(&resting, &main_stack);
    REPEAT {
      CHECK(fib(15) == 610);
      change(&busy, &main_stack);
    }
  }
  CHECK(rests == 3 && turns > 0);
  puts("switches_by_made_code ok");
}
