/* Coroutines whose switch goes by the frame pointer. */
#define LOAD "mov %rsi,%rbp; mov %rbp,%rsp; "
#define ONE_WAY
#include "switches_by_hand.c"
