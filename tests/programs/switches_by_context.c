/* Coroutines whose switch keeps the address of a context in rbp, and loads the stack pointer from there. */
#define LOAD "mov %rsi,-16(%rsi); lea -32(%rsi),%rbp; mov 16(%rbp),%rsp; "
#define ONE_WAY
#include "switches_by_hand.c"
