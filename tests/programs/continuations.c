/* Continuations as interpreters make them: setjmp, a copy of the stack on the heap, and longjmp into it once it is put back. The
   copies hold return addresses of layouts that no stack holds meanwhile.
   other-compilers: once */
#include <setjmp.h>
#include <string.h>
#include "repeat.h"

enum { kKept = 8, kBelow = 512, kRounds = 60 };
struct continuation {
  jmp_buf registers;
  char* low;
  char* copy;
  size_t bytes;
};
static char* base;
static struct continuation kept[kKept];
static int resumed;
static unsigned long seen;

NOINLINE static size_t stack_bytes(const char* from) {
  char here;
  char* volatile place = &here;
  return (size_t)(from - place);
}

NOINLINE static int keep(struct continuation* to) {
  to->bytes = stack_bytes(base) + kBelow;
  to->low = base - to->bytes;
  to->copy = malloc(to->bytes);
  if (setjmp(to->registers) != 0) return 1;
  memcpy(to->copy, to->low, to->bytes);
  return 0;
}

NOINLINE static void resume(struct continuation* from, volatile char* above) {
  volatile char room[2048];
  room[0] = *above;
  if ((char*)room > from->low - 2048) resume(from, room);
  memcpy(from->low, from->copy, from->bytes);
  longjmp(from->registers, 1);
}

static int walk(int depth, int number);
static int (*volatile walks)(int, int) = walk;
NOINLINE static int walk(int depth, int number) {
  if (depth == 0) return number + 1000 * keep(&kept[number]);
  const int below = walks(depth - 1, number);
  seen = seen * 31 + (unsigned long)(below + depth);
  return below + 1;
}

NOINLINE static long passes(long number) { return number * 3 + 1; }
static long (*volatile passing)(long) = passes;
NOINLINE static void wait_for_layouts(double seconds) {
  for (double end = seconds_now() + seconds; seconds_now() < end;) CHECK(passing(2) == 7);
}

int main(void) {
  char start = 0;
  base = &start + 256;
  for (int number = 0; number < kKept; ++number) {
    const int result = walks(10, number);
    CHECK(result == number + (resumed == 0 ? 10 : 1010));
    wait_for_layouts(0.003);
    if (resumed > 0) break;
  }
  if (resumed == 0) wait_for_layouts(REPEAT_SECONDS);
  if (++resumed < kRounds) resume(&kept[resumed * 5 % kKept], &start);
  printf("continuations ok: %lu\n", seen);
}
