/* Coroutines whose switch returns as from an interrupt, which loads the stack pointer. */
#define LOAD "mov %ss,%eax; push %rax; push %rsi; pushf; mov %cs,%eax; push %rax; lea 1f(%rip),%rax; push %rax; iretq; 1: "
#define ONE_WAY
#include "switches_by_hand.c"
