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
#define REPEAT for (double end_ = seconds_now() + REPEAT_SECONDS; seconds_now() < end_;)

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

#define NOINLINE __attribute__((noinline))
