/* For the small programs here: do something again and again for long enough that many layouts pass by, check it
   every time, and print the same whatever the layout. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* About 60 epochs of 1 ms. */
#define REPEAT_SECONDS 0.06

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
#ifndef REPEAT_TIMES
#define REPEAT for (double end_ = seconds_now() + REPEAT_SECONDS; seconds_now() < end_;)
#else
/* So many times instead, with a visit each: what is executed then depends on no clock. */
#include <stab/stab.h>
#define REPEAT for (int left_ = REPEAT_TIMES; left_-- > 0; (void)stab_visit())
#endif

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

#define NOINLINE __attribute__((noinline))
