/* Each word is one way to visit points; how often each was visited is known. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stab/progress.h>

#include "../forbids.h"

enum { kVisits = 100000, kThreads = 8, kShort = 3000, kChildren = 6, kMany = 1100 };

static void* visitor(void* count) {
  for (long i = 0; i < (long)count; ++i) STAB_PROGRESS("work");
  return NULL;
}

static void in_threads(int threads, long visits, int at_once) {
  pthread_t* all = calloc((size_t)threads, sizeof *all);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&all[i], &small, visitor, (void*)visits) != 0) abort();
    if (!at_once) pthread_join(all[i], NULL);
  }
  for (int i = 0; at_once && i < threads; ++i) pthread_join(all[i], NULL);
  free(all);
}

static pthread_barrier_t all_there;
static void* waits_with_a_row(void* unused) {
  STAB_PROGRESS("work");
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < 10; ++i) STAB_PROGRESS("work");
  return unused;
}

/* More threads at a time than the board has rows. Main comes first: a thread that comes while another makes the first row
 * possible takes its own at its next visit, when others may have given theirs back. */
static void many(void) {
  STAB_PROGRESS("work");
  pthread_t all[kMany];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  pthread_barrier_init(&all_there, NULL, kMany);
  for (int i = 0; i < kMany; ++i)
    if (pthread_create(&all[i], &small, waits_with_a_row, NULL) != 0) abort();
  for (int i = 0; i < kMany; ++i) pthread_join(all[i], NULL);
}

/* Parent and children at once: each thread of the family adds to cells of its own. */
static void forks(void) {
  STAB_PROGRESS("work");
  for (int i = 0; i < kChildren; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      visitor((void*)(long)kVisits);
      if (i % 2) _exit(0);
      in_threads(2, kVisits, 1);
      exit(0);
    }
  }
  visitor((void*)(long)kVisits);
  while (wait(NULL) > 0) {
  }
}

static void on_alarm(int number) {
  (void)number;
  STAB_PROGRESS("work");
}

/* A handler that comes between the two halves of an addition must lose nothing: the main loop's visits and the handler's add
 * up exactly. */
static void signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < 2000; ++i) {
    for (int k = 0; k < 50; ++k) STAB_PROGRESS("work");
    raise(SIGUSR1);
  }
}

static pthread_key_t late;
static void visits_late(void* round) {
  STAB_PROGRESS("late");
  if ((long)round < 3) pthread_setspecific(late, (void*)((long)round + 1));
}
static void* has_destructor(void* unused) {
  STAB_PROGRESS("work");
  pthread_setspecific(late, (void*)1);
  return unused;
}

/* Destructors of other keys run after the thread's row was given back. */
static void destructors(void) {
  pthread_key_create(&late, visits_late);
  for (int i = 0; i < 100; ++i) {
    pthread_t one;
    if (pthread_create(&one, NULL, has_destructor, NULL) != 0) abort();
    pthread_join(one, NULL);
  }
}

/* Behind a filter of the program's own, which knows no call that only we would make: a new thread's first visit, and ends. */
static void filtered(void) {
  STAB_PROGRESS("work");
  const int calls[] = {SYS_getpid, SYS_gettid};
  if (forbid_calls(calls, 2, 0) != 0) abort();
  in_threads(3, 5, 1);
  STAB_PROGRESS("work");
}

#define TEN(prefix) \
  STAB_PROGRESS(prefix "0"); STAB_PROGRESS(prefix "1"); STAB_PROGRESS(prefix "2"); STAB_PROGRESS(prefix "3"); \
  STAB_PROGRESS(prefix "4"); STAB_PROGRESS(prefix "5"); STAB_PROGRESS(prefix "6"); STAB_PROGRESS(prefix "7"); \
  STAB_PROGRESS(prefix "8"); STAB_PROGRESS(prefix "9")
#define LONG_NAME "12345678901234567890123456789012345678901234567890123456"

/* 70 points where 62 have room, and a name that is too long. */
static void points(void) {
  for (int i = 0; i < 5; ++i) {
    TEN("a"); TEN("b"); TEN("c"); TEN("d"); TEN("e"); TEN("f"); TEN("g");
    STAB_PROGRESS(LONG_NAME LONG_NAME);
  }
}

int main(int argc, char** argv) {
  const char* word = argc > 1 ? argv[1] : "";
  if (strcmp(word, "kinds") == 0) {
    for (int i = 0; i < 5; ++i) {
      STAB_ARRIVAL("job");
      STAB_BEGIN("job");
      if (i < 4) STAB_END("job");
      STAB_PROGRESS("job");
      STAB_PROGRESS("job");
    }
    for (int i = 0; i < 3; ++i) STAB_PROGRESS("line\n\"of\\text");
  }
  if (strcmp(word, "threads") == 0) in_threads(kThreads, kVisits, 1);
  if (strcmp(word, "short") == 0) in_threads(kShort, 10, 0);
  if (strcmp(word, "many") == 0) many();
  if (strcmp(word, "filtered") == 0) filtered();
  if (strcmp(word, "forks") == 0) forks();
  if (strcmp(word, "signals") == 0) signals();
  if (strcmp(word, "destructors") == 0) destructors();
  if (strcmp(word, "points") == 0) points();
  if (strcmp(word, "killed") == 0) {
    visitor((void*)(long)kVisits);
    kill(getpid(), SIGKILL);
  }
  puts("done");
  return 0;
}
