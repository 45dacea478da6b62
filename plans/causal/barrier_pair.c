/* Two threads meet at a barrier in each round, after work that takes one of them longer. Both look busy; on several CPUs only the
 * longer one is worth optimizing, on one CPU each is worth its share. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <stab/progress.h>

static pthread_barrier_t barrier;
static int rounds = 3000;

__attribute__((noinline)) static uint64_t longer(uint64_t x) {
  for (int i = 0; i < 400000; ++i) x = (x ^ x >> 13) * 0x9e3779b97f4a7c15u;
  return x;
}

__attribute__((noinline)) static uint64_t shorter(uint64_t x) {
  for (int i = 0; i < 240000; ++i) x = (x ^ x >> 11) * 0xff51afd7ed558ccdu;
  return x;
}

static void* other(void* nothing) {
  uint64_t x = 2;
  for (int round = 0; round < rounds; ++round) {
    x = shorter(x);
    pthread_barrier_wait(&barrier);
  }
  return (void*)(uintptr_t)x;
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  if (pthread_create(&thread, NULL, other, NULL) != 0) return 1;
  uint64_t x = 1;
  for (int round = 0; round < rounds; ++round) {
    x = longer(x);
    pthread_barrier_wait(&barrier);
    STAB_PROGRESS("round");
  }
  void* result;
  pthread_join(thread, &result);
  printf("%llu %llu\n", (unsigned long long)x, (unsigned long long)(uintptr_t)result);
  return 0;
}
