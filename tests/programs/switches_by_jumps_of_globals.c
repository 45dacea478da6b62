/* Coroutines on one stack whose places are variables of the program's. Who saves a place calls another function to leave, which
   might return, and comes back with the value that it was passed.
   other-compilers: once */
#include <setjmp.h>
#include <string.h>
#include "repeat.h"

enum { kCoroutines = 4, kRoom = 8192, kRounds = 3, kResumed = 7 };
static jmp_buf places[kCoroutines], scheduler;
static int current, finished[kCoroutines];
static long results[kCoroutines];
static volatile int may_leave = 1;

NOINLINE static void leave(int value) {
  if (may_leave) longjmp(scheduler, value);
}
NOINLINE static void enter(int which) {
  if (may_leave) longjmp(places[which], kResumed);
}

NOINLINE static int yield(int value) {
  const int got = setjmp(places[current]);
  if (got == 0) {
    leave(value);
    return -1;
  }
  return got;
}

/* No component of the call graph: calls go through a pointer. */
struct step {
  long (*call)(const struct step*, long);
};
#define STEP(name)                                                                              \
  NOINLINE static long name(const struct step* next, long number) {                             \
    volatile char frame[96];                                                                    \
    memset((char*)frame, (int)number, sizeof frame);                                            \
    const long below = next->call != NULL ? next->call(next + 1, number + 1) : number;          \
    if (next->call == NULL) CHECK(yield(3) == kResumed);                                        \
    for (size_t i = 0; i < sizeof frame; ++i) CHECK((unsigned char)frame[i] == (number & 255)); \
    return below * 3 + number;                                                                  \
  }
STEP(first)
STEP(second)
STEP(third)
STEP(fourth)
STEP(fifth)
STEP(sixth)
STEP(seventh)
STEP(last)
static const struct step steps[] = {{second}, {third}, {fourth}, {fifth}, {sixth}, {seventh}, {last}, {NULL}};

static void start_below(int which);
NOINLINE static void rest_until_called(int which, volatile char* room) {
  room[0] = 1;
  if (setjmp(places[which]) == 0) {
    if (which + 1 < kCoroutines) start_below(which + 1);
    leave(1);
    return;
  }
  const int self = current;
  for (long round = 0; round < kRounds; ++round) results[self] = results[self] * 7 + first(steps, round + self);
  finished[self] = 1;
  leave(1);
}

/* The frame of the first lies where main's calls come to later, so nothing of it is used again. */
NOINLINE static void start_below(int which) {
  volatile char room[kRoom];
  memset((char*)room, 0, sizeof room);
  rest_until_called(which, room);
  room[1] = 1;
}

NOINLINE static long passes(long number) { return number * 3 + 1; }
static long (*volatile passing)(long) = passes;
NOINLINE static void wait_for_layouts(void) { REPEAT CHECK(passing(2) == 7); }

NOINLINE static void resume(int which) {
  current = which;
  if (setjmp(scheduler) == 0) enter(which);
}

NOINLINE static void start_all(void) {
  if (setjmp(scheduler) == 0) start_below(0);
}

int main(void) {
  static volatile int turn, left = kCoroutines;
  start_all();
  for (turn = 0; left > 0; ++turn) {
    wait_for_layouts();
    for (volatile int i = 0; i < kCoroutines; ++i) {
      const int which = (i + turn) % kCoroutines;
      if (finished[which]) continue;
      resume(which);
      left -= finished[which];
    }
  }
  for (int i = 0; i < kCoroutines; ++i) printf("%ld\n", results[i]);
  return 0;
}
