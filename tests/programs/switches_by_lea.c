/* Coroutines whose switch computes the stack pointer by lea. */
#define LOAD "lea (%rsi),%rsp; "
#define ONE_WAY
#include "switches_by_hand.c"
