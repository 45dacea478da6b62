/* Coroutines whose switch, assembly in a function of C, loads the stack pointer from a variable of that function. It pushes
   behind the red zone. */
#define ONE_WAY
#define SWITCHER                                                                                                      \
  NOINLINE static void naked(void** saved, void* to) {                                                                \
    void* volatile next = to;                                                                                         \
    __asm__ volatile("lea -128(%%rsp),%%rsp; lea 1f(%%rip),%%rax; push %%rax; push %%rbp; push %%rbx; push %%r12; "   \
                     "push %%r13; push %%r14; push %%r15; mov %%rsp,(%0); add $184,%%rsp; mov %1,%%rsp; pop %%r15; "  \
                     "pop %%r14; pop %%r13; pop %%r12; pop %%rbx; pop %%rbp; ret; 1: lea 128(%%rsp),%%rsp"            \
                     : "+D"(saved) : "m"(next)                                                                        \
                     : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");                         \
  }
#include "switches_by_hand.c"
