/* Work of a known length and lines whose truth is known: --real f=PCT really does so much less of f's. What takes a
 * microsecond is measured once by the process that runs, in CPU time; a run's work is a number of rounds of a loop, so both the
 * plain and the really shorter program do exactly what they say. */
#ifndef WORK_H
#define WORK_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stab/coz.h"

/* The loop's length in memory is the region: aligned, so that all lines cost the same. */
#define LINE(name)                                                                                          \
  __attribute__((noinline, aligned(64))) uint64_t name(uint64_t rounds) {                                   \
    uint64_t x = rounds | 1;                                                                                \
    for (uint64_t i = 0; i < rounds; i++) __asm__ volatile("imul %1,%0\n\tadd $1,%0" : "+r"(x) : "r"(x | 1)); \
    return x;                                                                                               \
  }

static const char* real_line = "";
static double real_part = 0; /* of the work that is left out */
static double run_seconds = 2; /* of CPU time, or wall time by the program's choice */
static double rounds_per_us = 0;
static double scale = 1;

static inline double clock_of(clockid_t which) {
  struct timespec now;
  clock_gettime(which, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Rounds for so many microseconds of `line`. */
static inline uint64_t rounds(const char* line, double us) {
  if (strcmp(line, real_line) == 0) us *= 1 - real_part;
  return (uint64_t)(us * scale * rounds_per_us);
}

/* --real LINE=PCT, --seconds S, --rounds-per-us R. The last so that two runs do the same work. */
static inline void read_options(int argc, char** argv, uint64_t (*line)(uint64_t)) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--real") == 0) {
      char* at = strchr(argv[i + 1], '=');
      if (at == NULL) exit(2);
      *at = 0;
      real_line = argv[i + 1];
      real_part = atof(at + 1) / 100;
    } else if (strcmp(argv[i], "--seconds") == 0) {
      run_seconds = atof(argv[i + 1]);
    } else if (strcmp(argv[i], "--rounds-per-us") == 0) {
      rounds_per_us = atof(argv[i + 1]);
    } else if (strcmp(argv[i], "--scale") == 0) {
      scale = atof(argv[i + 1]);
    } else {
      exit(2);
    }
  }
  if (rounds_per_us > 0) return;
  /* The least of many, in CPU time. */
  double best = 1e9;
  for (int i = 0; i < 15; i++) {
    const double begun = clock_of(CLOCK_THREAD_CPUTIME_ID);
    line(100000);
    const double took = clock_of(CLOCK_THREAD_CPUTIME_ID) - begun;
    if (took < best) best = took;
  }
  rounds_per_us = 100000 / (best * 1e6);
  if (argc == 2 && strcmp(argv[1], "--rounds") == 0) {
    printf("%.1f\n", rounds_per_us);
    exit(0);
  }
}

#endif
