// A benchmark by hand: each repetition sees a layout of its own, and only what it repeats is measured. Prints
// "<layout> <nanoseconds>" for each; without the runtime all of them are layout 0, and the clock is ours.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <stab/stab.h>

enum { kRepetitions = 20, kNumbers = 20000 };

static int compare(const void* a, const void* b) { return *(const int*)a < *(const int*)b ? -1 : 1; }

static void sort_numbers(void) {
  static int numbers[kNumbers];
  for (int i = 0; i < kNumbers; ++i) numbers[i] = (int)((unsigned)i * 2654435761u >> 8);
  qsort(numbers, kNumbers, sizeof *numbers, compare);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(void) {
  stab_pause();  // no layout ends in the middle of a repetition
  for (int i = 0; i < kRepetitions; ++i) {
    stab_new_layout();
    struct stab_region region;
    const uint64_t begin_ns = now_ns();
    stab_region_begin();
    sort_numbers();
    if (stab_region_end(&region) != STAB_OK) region.wall_ns = now_ns() - begin_ns;
    printf("%llu %llu\n", (unsigned long long)stab_epoch(), (unsigned long long)region.wall_ns);
  }
  stab_resume();
  return 0;
}
