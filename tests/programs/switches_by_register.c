/* Coroutines whose switch has a variable for the stack pointer: its text names none. It pushes behind the red zone. Without
   optimization clang loads such a variable from memory first, so the plain build crashes: there it is switched by hand. */
#ifdef __OPTIMIZE__
#define ONE_WAY
#define SWITCHER                                                                                                        \
  NOINLINE static void naked(void** saved, void* to) {                                                                  \
    register void* stack __asm__("rsp");                                                                                \
    __asm__ volatile("lea -128(%2),%2; lea 1f(%%rip),%%rax; push %%rax; push %%rbp; push %%rbx; push %%r12; "           \
                     "push %%r13; push %%r14; push %%r15; mov %2,(%0); mov %1,%2; pop %%r15; pop %%r14; pop %%r13; "    \
                     "pop %%r12; pop %%rbx; pop %%rbp; ret; 1: lea 128(%2),%2"                                          \
                     : "+D"(saved), "+S"(to), "+r"(stack) : : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory"); \
  }
#endif
#include "switches_by_hand.c"
