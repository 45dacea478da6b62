/* A server on SQLite, and its own open-loop client: requests come at drawn times, and each is a row that has to be on the disk
 * before its answer. load_sqlite FILE JOURNAL RATE REQUESTS [RAISE] */
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <stab/progress.h>

static sem_t waiting;
static sqlite3* store;
static sqlite3_stmt* insert;

static double exponential_of(uint64_t* state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return -log(1 - (double)((x ^ x >> 31) >> 11) * 0x1p-53);
}

static void need(int result) {
  if (result == SQLITE_OK || result == SQLITE_DONE) return;
  fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(store));
  exit(1);
}

static void* serve(void* nothing) {
  char text[500];
  memset(text, 'x', sizeof text);
  for (int64_t number = 0; sem_wait(&waiting) == 0; ++number) {
    need(sqlite3_bind_int64(insert, 1, number * 7919 % 100003));
    need(sqlite3_bind_text(insert, 2, text, sizeof text, SQLITE_STATIC));
    need(sqlite3_step(insert));
    need(sqlite3_reset(insert));
    STAB_END("request");
    STAB_PROGRESS("served");
  }
  return nothing;
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const double rate = atof(argv[3]) * (argc > 5 ? atof(argv[5]) : 1);
  const int requests = atoi(argv[4]);
  char journal[100];
  remove(argv[1]);
  need(sqlite3_open(argv[1], &store));
  snprintf(journal, sizeof journal, "PRAGMA journal_mode = %s; PRAGMA synchronous = FULL", argv[2]);
  need(sqlite3_exec(store, journal, NULL, NULL, NULL));
  need(sqlite3_exec(store, "CREATE TABLE rows(key INTEGER, text TEXT); CREATE INDEX by_key ON rows(key)", NULL, NULL, NULL));
  need(sqlite3_prepare_v2(store, "INSERT INTO rows VALUES(?, ?)", -1, &insert, NULL));
  pthread_t server;
  sem_init(&waiting, 0, 0);
  if (pthread_create(&server, NULL, serve, NULL) != 0) return 1;
  prctl(PR_SET_TIMERSLACK, 1);
  struct timespec next;
  uint64_t state = 1;
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
  puts("all came");
  fflush(stdout);
  _Exit(0);
}
