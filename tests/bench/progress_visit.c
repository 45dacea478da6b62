/* What a visit costs, in ns: the difference of two loops, of which one has a point; the least of several rounds. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <stab/progress.h>

enum { kRounds = 40, kTimes = 500000 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Some work between points, as programs have. */
static inline uint64_t step(uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  return x ^ x << 17;
}

__attribute__((noinline)) static uint64_t bare(uint64_t x) {
  for (int i = 0; i < kTimes; ++i) {
    x = step(x);
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

__attribute__((noinline)) static uint64_t with_point(uint64_t x) {
  for (int i = 0; i < kTimes; ++i) {
    x = step(x);
    __asm__ volatile("" : "+r"(x));
    STAB_PROGRESS("step");
  }
  return x;
}

__attribute__((noinline)) static void only_points(void) {
  for (int i = 0; i < kTimes; ++i) STAB_PROGRESS("alone");
}

int main(void) {
  double least_bare = 1e18, least_point = 1e18, least_alone = 1e18;
  uint64_t x = 88172645463325252u;
  for (int round = 0; round < kRounds; ++round) {
    const double a = now_ns();
    x = bare(x);
    const double b = now_ns();
    x = with_point(x);
    const double c = now_ns();
    only_points();
    const double d = now_ns();
    if (b - a < least_bare) least_bare = b - a;
    if (c - b < least_point) least_point = c - b;
    if (d - c < least_alone) least_alone = d - c;
  }
  printf("beside_work %.3f\nalone %.3f\n%s", (least_point - least_bare) / kTimes, least_alone / kTimes, x == 0 ? "!" : "");
  return 0;
}
