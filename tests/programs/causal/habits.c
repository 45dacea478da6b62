/* Programs whose habits are a profile's trouble: habits HABIT. Each prints what it saw, which is the same without a profile. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

LINE(line_a)

static volatile sig_atomic_t traps = 0;
static volatile int stop = 0;

static void on_trap(int signal) {
  (void)signal;
  traps++;
}

static void compute(double seconds) {
  const double end = clock_of(CLOCK_THREAD_CPUTIME_ID) + seconds;
  while (clock_of(CLOCK_THREAD_CPUTIME_ID) < end) line_a(20000);
}

static void* compute_until_stop(void* nothing) {
  while (!stop) line_a(20000);
  return nothing;
}

/* No system call ends because of a sample. */
static int interrupted(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, compute_until_stop, NULL) != 0) return 1;
  int ended = 0;
  for (int i = 0; i < 300; i++) {
    const struct timespec time = {0, 1000000};
    if (nanosleep(&time, NULL) != 0 && errno == EINTR) ended++;
    if (poll(NULL, 0, 1) < 0 && errno == EINTR) ended++;
    line_a(100000);
  }
  stop = 1;
  pthread_join(thread, NULL);
  printf("%d calls ended with EINTR\n", ended);
  return 0;
}

/* SIGTRAP is the program's as well. */
static int own_trap(void) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_trap;
  sigaction(SIGTRAP, &action, &before);
  for (int i = 0; i < 50; i++) {
    compute(0.004);
    raise(SIGTRAP);
  }
  sigaction(SIGTRAP, NULL, &action);
  printf("%d traps, before %s, now %s\n", (int)traps, before.sa_handler == SIG_DFL ? "default" : "other",
         action.sa_handler == on_trap ? "mine" : "other");
  return 0;
}

/* Dies of it. */
static int deadly_trap(void) {
  compute(0.05);
  fflush(stdout);
  raise(SIGTRAP);
  return 0;
}

static int blocks_signals(void) {
  sigset_t all, was;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &was);
  compute(0.2);
  pthread_sigmask(SIG_SETMASK, &was, NULL);
  printf("SIGUSR1 was %d\n", sigismember(&was, SIGUSR1));
  return 0;
}

static int forks(void) {
  for (int i = 0; i < 4; i++) {
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 100; k++) {
        compute(0.001);
        COZ_PROGRESS_NAMED("round");
      }
      _exit(3);
    }
    compute(0.05);
  }
  int sum = 0, status;
  while (wait(&status) > 0) sum += WEXITSTATUS(status);
  printf("%d\n", sum);
  return 0;
}

static int executes(char* self) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "short", (char*)NULL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  compute(0.05);
  printf("%d\n", status);
  return 0;
}

/* Descriptors have the numbers that they have otherwise. */
static int descriptors(void) {
  const int first = dup(0), second = dup(0);
  printf("%d %d\n", first, second);
  compute(0.05);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const char* habit = argv[1];
  if (strcmp(habit, "interrupted") == 0) return interrupted();
  if (strcmp(habit, "own-trap") == 0) return own_trap();
  if (strcmp(habit, "deadly-trap") == 0) return deadly_trap();
  if (strcmp(habit, "blocks-signals") == 0) return blocks_signals();
  if (strcmp(habit, "forks") == 0) return forks();
  if (strcmp(habit, "executes") == 0) return executes(argv[0]);
  if (strcmp(habit, "descriptors") == 0) return descriptors();
  if (strcmp(habit, "short") == 0) return puts("done") < 0;
  if (strcmp(habit, "silent") == 0) {
    compute(0.2);
    return puts("done") < 0;
  }
  return 2;
}
