/* Coroutines whose switch is assembly in a function of C. Not optimized, it loads what it is given from its frame. It pushes
   behind the red zone. */
#define ONE_WAY
#define SWITCHER                                                                                                           \
  NOINLINE static void naked(void** saved, void* to) {                                                                     \
    __asm__ volatile("lea -128(%%rsp),%%rsp; lea 1f(%%rip),%%rax; push %%rax; push %%rbp; push %%rbx; push %%r12; "        \
                     "push %%r13; push %%r14; push %%r15; mov %%rsp,(%0); mov %1,%%rsp; pop %%r15; pop %%r14; pop %%r13; " \
                     "pop %%r12; pop %%rbx; pop %%rbp; ret; 1: lea 128(%%rsp),%%rsp"                                       \
                     : "+D"(saved), "+S"(to) : : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");           \
  }
#include "switches_by_hand.c"
