/* A queue whose answers are known: tasks that come at drawn times and servers that each take a drawn time for one.
 *
 *   queue [--servers C] [--service exponential|fixed] [--service-us S] [--by sleep|work] [--rate R] [--raise M] [--tasks N]
 *         [--seed K] [--closed CLIENTS] [--patience-us T] [--mute]
 *
 * Tasks come R times a second, at exponential distances, whatever becomes of them (an open loop); --raise makes all distances
 * M times shorter, which is what a load of M has to come out as. --closed: so many clients, each of which waits for its answer
 * and then thinks for CLIENTS / R seconds. --patience-us: servers wait so long for a task at most, and then look again. --mute:
 * no arrival point. What the program itself has measured is printed: tasks served, their mean time inside, the servers' busy
 * share. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "stab/progress.h"

enum { kMostTasks = 1 << 20 };

static unsigned servers = 1, clients = 0, tasks = 2000;
static int is_fixed = 0, is_work = 0, is_mute = 0;
static double service_us = 2000, rate = 150, raised = 1, patience_us = 0;
static uint64_t seed = 1;

static double came[kMostTasks];
static unsigned next_in = 0, next_out = 0;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t waiting;
static sem_t answers[256];
static double inside_s = 0, busy_s = 0;
static unsigned served = 0;
static double rounds_per_us = 0;

static double clock_s(clockid_t which) {
  struct timespec now;
  clock_gettime(which, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_until(double at) {
  const struct timespec until = {(time_t)at, (long)((at - floor(at)) * 1e9)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

static double uniform_of(uint64_t* state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}
static double exponential_of(uint64_t* state) { return -log(1 - uniform_of(state)); }

__attribute__((noinline)) static uint64_t work(uint64_t rounds) {
  uint64_t x = rounds | 1;
  for (uint64_t i = 0; i < rounds; i++) __asm__ volatile("imul %1,%0\n\tadd $1,%0" : "+r"(x) : "r"(x | 1));
  return x;
}

static void serve_for(double us) {
  if (is_work) {
    work((uint64_t)(us * rounds_per_us));
    return;
  }
  const struct timespec time = {(time_t)(us / 1e6), (long)fmod(us * 1e3, 1e9)};
  nanosleep(&time, NULL);
}

/* In the thread to which it comes. */
static void arrive(void) {
  if (!is_mute) STAB_ARRIVAL("task");
  STAB_BEGIN("task");
  pthread_mutex_lock(&lock);
  if (next_in == kMostTasks) abort();
  came[next_in++] = clock_s(CLOCK_MONOTONIC);
  pthread_mutex_unlock(&lock);
  sem_post(&waiting);
}

static int wait_for_task(void) {
  if (patience_us == 0) return sem_wait(&waiting);
  for (;;) {
    const double at = clock_s(CLOCK_REALTIME) + patience_us * 1e-6;
    const struct timespec until = {(time_t)at, (long)((at - floor(at)) * 1e9)};
    if (sem_timedwait(&waiting, &until) == 0) return 0;
    if (errno != ETIMEDOUT && errno != EINTR) return -1;
  }
}

static void* server(void* number) {
  prctl(PR_SET_TIMERSLACK, 1);
  uint64_t state = seed * 1000 + (uint64_t)(uintptr_t)number + 1;
  while (wait_for_task() == 0) {
    pthread_mutex_lock(&lock);
    const unsigned task = next_out++;
    const double since = came[task];
    pthread_mutex_unlock(&lock);
    const double begun = clock_s(CLOCK_MONOTONIC);
    serve_for(is_fixed ? service_us : service_us * exponential_of(&state));
    STAB_END("task");
    STAB_PROGRESS("served");
    const double now = clock_s(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    inside_s += now - since;
    busy_s += now - begun;
    ++served;
    pthread_mutex_unlock(&lock);
    if (clients > 0) sem_post(&answers[task % clients]);
  }
  return NULL;
}

static void* client(void* number) {
  const unsigned own = (unsigned)(uintptr_t)number;
  uint64_t state = seed * 77 + own;
  prctl(PR_SET_TIMERSLACK, 1);
  for (unsigned i = 0; i < tasks / clients; i++) {
    sleep_until(clock_s(CLOCK_MONOTONIC) + exponential_of(&state) * clients / rate / raised);
    arrive();
    sem_wait(&answers[own]);
  }
  return NULL;
}

/* In front of servers that work on the same CPU: what comes from outside does not wait for them. */
static void stand_in_front(void) {
  struct sched_param own;
  int policy;
  pthread_getschedparam(pthread_self(), &policy, &own);
  if (policy == SCHED_OTHER) policy = SCHED_FIFO, own.sched_priority = 0;
  own.sched_priority += 1;
  pthread_setschedparam(pthread_self(), policy, &own);
}

static void calibrate(void) {
  double best = 1e9;
  for (int i = 0; i < 15; i++) {
    const double begun = clock_s(CLOCK_THREAD_CPUTIME_ID);
    work(100000);
    const double took = clock_s(CLOCK_THREAD_CPUTIME_ID) - begun;
    if (took < best) best = took;
  }
  rounds_per_us = 100000 / (best * 1e6);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--mute") == 0) { is_mute = 1; continue; }
    if (strcmp(argv[i], "--servers") == 0) servers = (unsigned)atoi(value);
    else if (strcmp(argv[i], "--service") == 0) is_fixed = strcmp(value, "fixed") == 0;
    else if (strcmp(argv[i], "--service-us") == 0) service_us = atof(value);
    else if (strcmp(argv[i], "--by") == 0) is_work = strcmp(value, "work") == 0;
    else if (strcmp(argv[i], "--rate") == 0) rate = atof(value);
    else if (strcmp(argv[i], "--raise") == 0) raised = atof(value);
    else if (strcmp(argv[i], "--tasks") == 0) tasks = (unsigned)atoi(value);
    else if (strcmp(argv[i], "--seed") == 0) seed = (uint64_t)atoll(value);
    else if (strcmp(argv[i], "--closed") == 0) clients = (unsigned)atoi(value);
    else if (strcmp(argv[i], "--patience-us") == 0) patience_us = atof(value);
    else return 2;
    i++;
  }
  if (tasks > kMostTasks || clients > 256 || servers < 1 || servers > 64) return 2;
  if (is_work) calibrate();
  sem_init(&waiting, 0, 0);
  pthread_t threads[64], people[256];
  for (unsigned i = 0; i < clients; i++) sem_init(&answers[i], 0, 0);
  for (unsigned i = 0; i < servers; i++)
    if (pthread_create(&threads[i], NULL, server, (void*)(uintptr_t)i) != 0) return 1;
  prctl(PR_SET_TIMERSLACK, 1);
  const double begun = clock_s(CLOCK_MONOTONIC);
  if (clients > 0) {
    for (unsigned i = 0; i < clients; i++)
      if (pthread_create(&people[i], NULL, client, (void*)(uintptr_t)i) != 0) return 1;
    for (unsigned i = 0; i < clients; i++) pthread_join(people[i], NULL);
  } else {
    stand_in_front();
    double at = begun + 0.02;
    uint64_t state = seed;
    for (unsigned i = 0; i < tasks; i++) {
      at += exponential_of(&state) / rate / raised;
      sleep_until(at);
      arrive();
    }
  }
  /* What is still waiting is left: a queue that is too long never ends. */
  const double took = clock_s(CLOCK_MONOTONIC) - begun;
  pthread_mutex_lock(&lock);
  fprintf(stderr, "served %u inside_ms %.4f busy %.4f seconds %.3f\n", served, served ? 1e3 * inside_s / served : 0,
          busy_s / took / servers, took);
  puts("done");
  fflush(stdout);
  _Exit(0);
}
