/* Coroutines that lie below each other on one stack, in room that an array of the caller's keeps free, and go up and down by
   setjmp and longjmp alone. While they rest, no thread shows what their frames return to. The room is enough for their frames,
   not for pads.
   other-compilers: once */
#include <setjmp.h>
#include <string.h>
#include "repeat.h"

#ifndef LEAVE
#define LEAVE(place) longjmp(place, 1)
#endif

enum { kCoroutines = 6, kRoom = 8192, kRounds = 3 };
struct coroutine {
  jmp_buf place;
  long result;
  int finished;
};
static struct coroutine coroutines[kCoroutines];
static struct coroutine* volatile running;
static jmp_buf scheduler;

NOINLINE static void leave_for_scheduler(struct coroutine* self) {
  if (setjmp(self->place) == 0) LEAVE(scheduler);
}

/* No component of the call graph: calls go through a pointer. Each has a frame and, where nothing keeps it from that, a pad. */
struct step {
  long (*call)(const struct step*, struct coroutine*, long);
};
#define STEP(name)                                                                                 \
  NOINLINE static long name(const struct step* next, struct coroutine* self, long number) {        \
    volatile char frame[96];                                                                       \
    memset((char*)frame, (int)number, sizeof frame);                                               \
    const long below = next->call != NULL ? next->call(next + 1, self, number + 1) : number;       \
    for (size_t i = 0; i < sizeof frame; ++i) CHECK((unsigned char)frame[i] == (number & 255));    \
    if (next->call == NULL) leave_for_scheduler(self);                                             \
    for (size_t i = 0; i < sizeof frame; ++i) CHECK((unsigned char)frame[i] == (number & 255));    \
    return below * 3 + number;                                                                     \
  }
STEP(first)
STEP(second)
STEP(third)
STEP(fourth)
STEP(fifth)
STEP(sixth)
STEP(seventh)
STEP(eighth)
STEP(last)
static const struct step steps[] = {{second}, {third}, {fourth}, {fifth}, {sixth}, {seventh}, {eighth}, {last}, {NULL}};

NOINLINE static void run(struct coroutine* self) {
  for (long round = 0; round < kRounds; ++round)
    self->result = self->result * 7 + first(steps, self, round + (self - coroutines));
  self->finished = 1;
  LEAVE(scheduler);
}

static void start_below(struct coroutine* self);
NOINLINE static void rest_until_called(struct coroutine* self, volatile char* room) {
  room[0] = 1;
  running = self;
  if (setjmp(self->place) == 0) {
    if (running + 1 < coroutines + kCoroutines) start_below(running + 1);
    LEAVE(scheduler);
  }
  run(running);
}

/* The frame of the first lies where main's calls come to later, so nothing of it is used again. */
NOINLINE static void start_below(struct coroutine* self) {
  volatile char room[kRoom];
  memset((char*)room, 0, sizeof room);
  rest_until_called(self, room);
  room[1] = 1;
}

NOINLINE static long passes(long number) { return number * 3 + 1; }
static long (*volatile passing)(long) = passes;
NOINLINE static void wait_for_layouts(void) {
  for (double end = seconds_now() + REPEAT_SECONDS; seconds_now() < end;) CHECK(passing(2) == 7);
}

NOINLINE static void resume(struct coroutine* one) {
  running = one;
  if (setjmp(scheduler) == 0) LEAVE(one->place);
}

NOINLINE static void start_all(void) {
  if (setjmp(scheduler) == 0) start_below(coroutines);
}

int main(void) {
  static volatile int turn, left;
  start_all();
  for (turn = 0, left = kCoroutines; left > 0; ++turn) {
    wait_for_layouts();
    for (volatile int i = 0; i < kCoroutines; ++i) {
      struct coroutine* one = &coroutines[(i + turn) % kCoroutines];
      if (one->finished) continue;
      resume(one);
      left -= one->finished;
    }
  }
  for (int i = 0; i < kCoroutines; ++i) printf("%ld\n", coroutines[i].result);
  return 0;
}
