/* What a call of a counted function takes, in ns: the least of 200 rounds, in a loop of nothing else and in one of other work;
 * and the same of a function like it that nobody counts. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { kRounds = 200, kCalls = 20000 };

#define TINY(name)                                                   \
  __attribute__((noinline, aligned(64))) uint64_t name(uint64_t x) { \
    __asm__ volatile("" : "+r"(x));                                  \
    return x + 1;                                                    \
  }
TINY(counted)
TINY(not_counted)

static uint64_t work(uint64_t x) {
  for (int i = 0; i < 16; ++i) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

#define LEAST(loop)                                    \
  ({                                                   \
    double least = 1e9;                                \
    for (int round = 0; round < kRounds; ++round) {    \
      const double begun = now_ns();                   \
      for (int i = 0; i < kCalls; ++i) x = loop;       \
      const double took = (now_ns() - begun) / kCalls; \
      if (took < least) least = took;                  \
    }                                                  \
    least;                                             \
  })

int main(void) {
  uint64_t x = 88172645463325252u;
  printf("counted_alone %.3f\n", LEAST(counted(x)));
  printf("not_counted_alone %.3f\n", LEAST(not_counted(x)));
  printf("counted_in_work %.3f\n", LEAST(counted(work(x))));
  printf("not_counted_in_work %.3f\n", LEAST(not_counted(work(x))));
  return x == 0;
}
