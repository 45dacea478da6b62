/* A function's address that is kept in other ways than as a plain pointer gives the same function back: with a mark in it, as a
   distance from an array's beginning, by instructions that the linker has changed, in functions that go on in their originals
   by a label that is a value. */
#include <stdint.h>
#include "repeat.h"
typedef int (*Function)(int);
/* No function is so short that it stays, or that a mark in it lies near the next. */
static volatile int zero;
static inline int work(int x) {
  const int sum = zero + zero + zero + zero + zero + zero + zero + zero;
  return x + sum * x;
}
#define KEPT __attribute__((used)) NOINLINE
KEPT static int small_mark(int x) { return work(x + 1); }
KEPT int mark_in_code(int x) { return work(x + 4); }
KEPT static int mark_in_front(int x) { return work(x + 3); }
KEPT static int near_distance(int x) { return work(x + 5); }
KEPT static int far_distance(int x) { return work(x + 6); }
KEPT int compared(int x) { return work(x + 7); }
KEPT int loaded(int x) { return work(x + 8); }
KEPT static int beside_labels(int x) { return work(x + 9); }
KEPT static int large_mark(int x) { return work(x + 2); }
static const Function table[] = {small_mark,   large_mark, mark_in_front, mark_in_code, near_distance,
                                 far_distance, compared,   loaded,        beside_labels};
/* No code makes its address, but its own in the large model, which adds the distance to where variables are. */
KEPT static int only_in_data(int x) { return work(x); }
static volatile Function alone[] = {only_in_data};
enum { kSmall, kLarge, kFront, kCode, kNear, kFar, kCompared, kLoaded, kBeside, kCount };
static char* const volatile marked[] = {(char*)small_mark + 1, (char*)large_mark + 8, (char*)mark_in_front - 1};
__asm__(".pushsection .rodata.distances,\"a\"\n.p2align 3\n.globl distances\n.hidden distances\n"
        "distances: .long 0, 0, near_distance - distances, 0\n.zero 8176\n.quad far_distance - distances\n.popsection\n");
extern const int distances[];
NOINLINE static Function made(int which) {
  switch (which) {
    case kSmall: return small_mark;
    case kLarge: return large_mark;
    case kFront: return mark_in_front;
    case kCode: return mark_in_code;
    case kNear: return near_distance;
    case kFar: return far_distance;
    case kCompared: return compared;
    case kLoaded: return loaded;
    default: return beside_labels;
  }
}
NOINLINE static char* made_with_mark(void) { return zero ? (char*)0 : (char*)mark_in_code - 8; }
NOINLINE static int is_compared(Function f) {
  int same;
  __asm__("xorl %0, %0\n\tcmpq compared@GOTPCREL(%%rip), %1\n\tsete %b0" : "=&q"(same) : "r"(f) : "cc");
  return same;
}
NOINLINE static Function get_loaded(void) {
  Function f;
  __asm__("movq loaded@GOTPCREL(%%rip), %0" : "=r"(f));
  return f;
}
static const void* volatile labels_seen; /* so it is no table that a copy of the function has a copy of */
NOINLINE static Function go_on(int n) {
  static void* const labels[] = {&&first, &&second};
  labels_seen = labels;
  goto *labels[work(n) & 1];
first:
  return beside_labels;
second:
  return work(n) > 0 ? beside_labels : 0;
}
int main(void) {
  REPEAT {
    for (int i = 0; i < kCount; ++i) CHECK(made(i) == table[i] && table[i](10) == 11 + i && made(i)(1) == 2 + i);
    CHECK((Function)(marked[0] - 1) == table[kSmall] && (Function)(marked[0] - 1) == made(kSmall));
    CHECK((Function)(marked[1] - 8) == table[kLarge] && (Function)(marked[1] - 8) == made(kLarge));
    CHECK((Function)(marked[2] + 1) == table[kFront] && (Function)(marked[2] + 1) == made(kFront));
    CHECK((Function)(made_with_mark() + 8) == table[kCode]);
    CHECK((Function)((intptr_t)distances + distances[2]) == table[kNear]);
    CHECK((Function)((intptr_t)distances + ((const int64_t*)distances)[1024]) == table[kFar]);
    CHECK(is_compared(table[kCompared]) && !is_compared(table[kLoaded]) && get_loaded() == table[kLoaded]);
    CHECK(alone[zero](10) == 10);
    CHECK(go_on(2) == table[kBeside] && go_on(3) == table[kBeside] && go_on(3)(1) == 10);
  }
  puts("pointers marked ok");
}
