/* Coroutines whose switch loads the stack pointer from an array, by an index. */
#define LOAD "push %rsi; mov %rsp,%rdx; xor %eax,%eax; mov (%rdx,%rax,8),%rsp; "
#define ONE_WAY
#include "switches_by_hand.c"
