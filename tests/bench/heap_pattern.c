/* heap_pattern PATTERN THREADS OPERATIONS: allocation patterns through malloc and free, whoever provides them.

   pair   malloc and free of 64 bytes           mixed  pairs of 16 to 512 bytes, 16 live
   fifo   a queue of 1000 objects of 16 to 256  churn  100,000 live objects of 16 to 1024, random ones replaced
   aligned  pairs of 4096 aligned to 4096       pass   64 bytes, freed by another thread (two threads a pair)

   Prints nanoseconds of CPU time for each operation (one malloc and one free). */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  const char* pattern;
  long operations;
  uint64_t seed;
} Job;

static uint64_t draw(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* The compiler must believe that somebody looks at the object. */
static void* touch(void* object) {
  __asm__ volatile("" : "+r"(object) : : "memory");
  *(volatile char*)object = 1;
  return object;
}

static void pair(const Job* job) {
  for (long i = 0; i < job->operations; ++i) free(touch(malloc(64)));
}

static void mixed(const Job* job) {
  void* live[16] = {0};
  uint64_t state = job->seed;
  for (long i = 0; i < job->operations; ++i) {
    const uint64_t r = draw(&state);
    free(live[r & 15]);
    live[r & 15] = touch(malloc(16 + (r >> 8) % 497));
  }
  for (int i = 0; i < 16; ++i) free(live[i]);
}

static void fifo(const Job* job) {
  static _Thread_local void* queue[1000];
  uint64_t state = job->seed;
  for (long i = 0; i < job->operations; ++i) {
    free(queue[i % 1000]);
    queue[i % 1000] = touch(malloc(16 + draw(&state) % 241));
  }
  for (int i = 0; i < 1000; ++i) free(queue[i]);
}

static void churn(const Job* job) {
  const long live = 100000;
  void** objects = calloc(live, sizeof *objects);
  uint64_t state = job->seed;
  for (long i = 0; i < job->operations; ++i) {
    const uint64_t r = draw(&state);
    free(objects[r % live]);
    objects[r % live] = touch(malloc(16 + (r >> 32) % 1009));
  }
  for (long i = 0; i < live; ++i) free(objects[i]);
  free(objects);
}

static void aligned(const Job* job) {
  for (long i = 0; i < job->operations; ++i) free(touch(memalign(4096, 4096)));
}

static _Atomic(void*) ring[1024];
static void pass(const Job* job) {
  for (long i = 0; i < job->operations; ++i) {
    const long at = (i * 7 + (long)job->seed) & 1023;
    free(atomic_exchange(&ring[at], touch(malloc(64))));
  }
}

static void* run(void* argument) {
  const Job* job = argument;
  static const struct {
    const char* name;
    void (*body)(const Job*);
  } patterns[] = {{"pair", pair},   {"mixed", mixed},     {"fifo", fifo},
                  {"churn", churn}, {"aligned", aligned}, {"pass", pass}};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i)
    if (strcmp(patterns[i].name, job->pattern) == 0) {
      patterns[i].body(job);
      return NULL;
    }
  fprintf(stderr, "heap_pattern: unknown pattern '%s'\n", job->pattern);
  exit(2);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: heap_pattern PATTERN THREADS OPERATIONS\n");
    return 2;
  }
  const int threads = atoi(argv[2]);
  const long operations = atol(argv[3]);
  pthread_t handles[64];
  Job jobs[64];
  for (int i = 0; i < threads && i < 64; ++i) {
    jobs[i] = (Job){argv[1], operations, 88172645463325252u + (uint64_t)i};
    if (threads == 1) run(&jobs[i]);
    if (threads > 1) pthread_create(&handles[i], NULL, run, &jobs[i]);
  }
  for (int i = 0; i < threads && threads > 1; ++i) pthread_join(handles[i], NULL);
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  printf("%.3f\n", ((double)used.tv_sec * 1e9 + (double)used.tv_nsec) / ((double)operations * threads));
}
