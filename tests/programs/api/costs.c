// What calls of <stab/stab.h> cost when they ask for nothing new: "<call> <nanoseconds>", the best of 20 rounds.
#include <stdio.h>
#include <time.h>

#include <stab/stab.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#define COST(name, call)                                      \
  do {                                                        \
    double best = 1e9;                                        \
    for (int round = 0; round < 20; ++round) {                \
      const double from = now_ns();                           \
      for (int i = 0; i < 20000; ++i) call;                   \
      const double each = (now_ns() - from) / 20000;          \
      if (each < best) best = each;                           \
    }                                                         \
    printf("%s %.1f\n", name, best);                          \
  } while (0)

static char stack[4096];
static volatile uint64_t sink;

int main(void) {
  struct stab_dose dose;
  stab_fiber_register(stack, sizeof stack);
  COST("active", sink += (uint64_t)stab_active());
  COST("epoch", sink += stab_epoch());
  COST("pause", stab_pause());
  COST("resume", stab_resume());
  COST("fiber_enter", stab_fiber_enter(stack));
  COST("read_dose", stab_read_dose(&dose));
  if (stab_active() == 0) COST("new_layout", stab_new_layout());  // nothing to change
  stab_region_begin();
  COST("nested_region", stab_region_begin());  // refused
  stab_region_end(NULL);
  return 0;
}
