/* Functions that end with a call which never returns: where that would return to is behind the function, and is told to tools as
   in a plain build, whatever lies there in a copy.
   other-compilers: no */
#define _GNU_SOURCE
#include <execinfo.h>
#include <setjmp.h>
#include <string.h>
#include <unwind.h>
#include "repeat.h"

enum { kFunctions = 24, kFrames = 64 };
static jmp_buf back;
static int number;
static void* behind[kFunctions];  /* of the first time */

struct Walk {
  int count;
  void* addresses[kFrames];
};

static _Unwind_Reason_Code note(struct _Unwind_Context* context, void* argument) {
  struct Walk* const walk = argument;
  if (walk->count < kFrames) walk->addresses[walk->count++] = (void*)_Unwind_GetIP(context);
  return _URC_NO_REASON;
}

/* The frame of the function that has called `ends`. */
NOINLINE __attribute__((noreturn)) static void ends(void) {
  void* addresses[kFrames];
  struct Walk walk = {0};
  const int count = backtrace(addresses, kFrames);
  _Unwind_Backtrace(note, &walk);
  CHECK(count > 2 && walk.count > 2 && addresses[1] == walk.addresses[1]);
  if (behind[number] == NULL) behind[number] = addresses[1];
  CHECK(addresses[1] == behind[number]);
  char** const names = backtrace_symbols(addresses + 1, 2);
  /* A file is named in a dynamic program. */
  CHECK(names != NULL && (strchr(names[0], '(') == NULL) == (strchr(names[1], '(') == NULL));
  free(names);
  longjmp(back, 1);
}

static volatile int sum;
/* Of many lengths. */
#define CALLER(N, WORK)                \
  NOINLINE void calls_##N(int n) {     \
    if (n & 1) sum += (N) + 0x12345;   \
    WORK;                              \
    ends();                            \
  }
#define FOUR(N)                                             \
  CALLER(N##0, (void)0)                                     \
  CALLER(N##1, sum = 5)                                     \
  CALLER(N##2, sum ^= n * 3)                                \
  CALLER(N##3, (sum = 77, sum = n >> 3, sum *= 0x10001))
FOUR(1) FOUR(2) FOUR(3) FOUR(4) FOUR(5) FOUR(6)
#define NAMES(N) calls_##N##0, calls_##N##1, calls_##N##2, calls_##N##3
static void (*const volatile callers[kFunctions])(int) = {NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6)};

int main(void) {
  for (volatile int round = 0; round < 8; ++round) REPEAT {
      for (number = 0; number < kFunctions; ++number)
        if (setjmp(back) == 0) callers[number](number);
    }
  puts("ended");
  return 0;
}
