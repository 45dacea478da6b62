/* A server that is its own client: requests come at drawn times whatever becomes of them, 100 a second, and each takes 2 ms in
 * the mean, of waiting for something slow. What still waits when the last one has come is left. */
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include <stab/progress.h>

static const double service_s = 2e-3, rate = 100;
static sem_t waiting;

static double exponential_of(uint64_t* state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return -log(1 - (double)((x ^ x >> 31) >> 11) * 0x1p-53);
}

static void* serve(void* nothing) {
  uint64_t state = 2;
  prctl(PR_SET_TIMERSLACK, 1);
  while (sem_wait(&waiting) == 0) {
    const double s = service_s * exponential_of(&state);
    const struct timespec time = {(time_t)s, (long)(fmod(s, 1) * 1e9)};
    nanosleep(&time, NULL);
    STAB_END("request");
    STAB_PROGRESS("served");
  }
  return nothing;
}

int main(int argc, char** argv) {
  const int requests = argc > 1 ? atoi(argv[1]) : 1000;
  pthread_t server;
  struct timespec next;
  uint64_t state = 1;
  sem_init(&waiting, 0, 0);
  if (pthread_create(&server, NULL, serve, NULL) != 0) return 1;
  prctl(PR_SET_TIMERSLACK, 1);
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (int i = 0; i < requests; ++i) {
    const double gap = exponential_of(&state) / rate;
    next.tv_nsec += (long)(fmod(gap, 1) * 1e9);
    next.tv_sec += (time_t)gap + next.tv_nsec / 1000000000;
    next.tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    STAB_ARRIVAL("request");
    STAB_BEGIN("request");
    sem_post(&waiting);
  }
  printf("%d requests came\n", requests);
  fflush(stdout);
  _Exit(0);
}
