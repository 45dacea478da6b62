/* Assembly: a function of its own, inline with local labels and a jump, and an alias. */
#include "repeat.h"
__asm__(".text\n.type triple,@function\n.globl triple\ntriple:\n lea (%rdi,%rdi,2), %rax\n ret\n.size triple, .-triple\n"
        ".type calls_back,@function\n.globl calls_back\ncalls_back:\n push %rbx\n call callee\n pop %rbx\n ret\n"
        ".size calls_back, .-calls_back\n");
long triple(long);
long calls_back(long);
long callee(long x) { return x + 100; }
long other_name(long) __attribute__((alias("callee")));
NOINLINE static long count_bits(unsigned long x) {
  long n = 0;
  __asm__ volatile("1: test %1, %1\n jz 2f\n lea -1(%1), %%rcx\n and %%rcx, %1\n inc %0\n jmp 1b\n 2:\n"
                   : "+r"(n), "+r"(x) : : "rcx", "cc");
  return n;
}
NOINLINE static int by_asm_goto(int x) {
  __asm__ goto("test %0, %0\n jz %l1" : : "r"(x) : "cc" : zero);
  return 1;
zero: return 0;
}
int main(void) {
  REPEAT {
    CHECK(triple(7) == 21 && calls_back(1) == 101 && other_name(2) == 102 && count_bits(0xff0f) == 12);
    CHECK(by_asm_goto(0) == 0 && by_asm_goto(4) == 1);
  }
  puts("assembly ok");
}
