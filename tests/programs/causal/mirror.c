/* What a program sees of itself: its signals, stacks, descriptors and children. mirror WHAT prints it, and it is the same without
 * a profile. habits.c has what makes a profile's work hard. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

LINE(line_a)

static void compute(double seconds) {
  const double end = clock_of(CLOCK_THREAD_CPUTIME_ID) + seconds;
  while (clock_of(CLOCK_THREAD_CPUTIME_ID) < end) line_a(20000);
}

static volatile sig_atomic_t traps = 0;
static void on_trap(int signal) {
  (void)signal;
  traps++;
}
static void on_nothing(int signal) { (void)signal; }

static struct sigaction action_with(void (*handler)(int), int flags, int blocked) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (blocked != 0) sigaddset(&action.sa_mask, blocked);
  return action;
}

static int has_trap(const sigset_t* set) { return sigismember(set, SIGTRAP); }

static void* sees_mask(void* nothing) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  printf("a thread: %d\n", has_trap(&now));
  return nothing;
}

/* Masks are read as they were written: of the thread, of one that it makes, of a child, and of actions. */
static int masks(void) {
  sigset_t all, before, now;
  sigfillset(&all);
  printf("%d ", sigprocmask(SIG_BLOCK, &all, &before));
  sigprocmask(SIG_SETMASK, NULL, &now);
  printf("%d %d\n", has_trap(&before), has_trap(&now));
  fflush(stdout);
  pthread_t thread;
  if (pthread_create(&thread, NULL, sees_mask, NULL) != 0) return 2;
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child == 0) {
    sigprocmask(SIG_BLOCK, NULL, &now);
    _exit(has_trap(&now));
  }
  int status = 0;
  waitpid(child, &status, 0);
  sigemptyset(&now);
  sigaddset(&now, SIGTRAP);
  pthread_sigmask(SIG_UNBLOCK, &now, &all);
  sigprocmask(SIG_SETMASK, &before, &now);
  printf("a child: %d, then %d %d\n", WEXITSTATUS(status), has_trap(&all), has_trap(&now));

  struct sigaction old, with = action_with(on_nothing, 0, SIGTRAP), plain = action_with(on_nothing, SA_ONSTACK, SIGUSR2);
  sigaction(SIGUSR1, &with, NULL);
  sigaction(SIGUSR1, &plain, &old);
  printf("actions: %d ", has_trap(&old.sa_mask));
  sigaction(SIGUSR1, NULL, &old);
  printf("%d %d ", has_trap(&old.sa_mask), sigismember(&old.sa_mask, SIGUSR2));
  sigaction(SIGUSR1, &with, NULL);
  signal(SIGUSR1, on_nothing);
  sigaction(SIGUSR1, NULL, &old);
  printf("%d\n", has_trap(&old.sa_mask));
  return 0;
}

static void blocks_all(int signal) {
  (void)signal;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}

/* A SIGTRAP that is blocked waits until it isn't, or is waited for; what a handler blocks is blocked until its end. */
static int waiting_trap(void) {
  const struct sigaction counts = action_with(on_trap, 0, 0), blocks = action_with(blocks_all, 0, 0);
  sigset_t trap, pending;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  sigprocmask(SIG_BLOCK, &trap, NULL);
  raise(SIGTRAP);
  compute(0.02);
  sigpending(&pending);
  int came = 0;
  printf("%d ", has_trap(&pending));
  sigwait(&trap, &came);
  sigpending(&pending);
  printf("%d %d\n", came == SIGTRAP, has_trap(&pending));

  sigaction(SIGTRAP, &counts, NULL);
  raise(SIGTRAP);
  raise(SIGTRAP);
  compute(0.02);
  printf("%d ", (int)traps);
  sigprocmask(SIG_UNBLOCK, &trap, NULL);
  printf("%d\n", (int)traps);

  sigaction(SIGUSR1, &blocks, NULL);
  raise(SIGUSR1);
  sigprocmask(SIG_BLOCK, NULL, &pending);
  raise(SIGTRAP);
  printf("%d %d\n", has_trap(&pending), (int)traps);
  return 0;
}

static char own_stack[64 * 1024];
static volatile int was_on_own_stack = 0;
static void on_own_stack(int signal) {
  char here;
  (void)signal;
  was_on_own_stack = &here >= own_stack && &here < own_stack + sizeof own_stack;
  compute(0.01);
}

static const char* stack_text(const stack_t* stack) {
  if (stack->ss_sp == own_stack) return stack->ss_size == sizeof own_stack ? "mine" : "another size";
  return stack->ss_flags == SS_DISABLE && stack->ss_size == 0 && stack->ss_sp == NULL ? "none" : "a stranger's";
}

/* The stack for handlers is none, or its own. */
static int stacks(void) {
  stack_t seen;
  const stack_t mine = {.ss_sp = own_stack, .ss_flags = 0, .ss_size = sizeof own_stack}, none = {.ss_flags = SS_DISABLE};
  const struct sigaction action = action_with(on_own_stack, SA_ONSTACK, 0);
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < 2; i++) {
    sigaltstack(NULL, &seen);
    printf("%s ", stack_text(&seen));
    sigaltstack(&mine, &seen);
    printf("%s ", stack_text(&seen));
    raise(SIGUSR1);
    sigaltstack(&none, &seen);
    printf("%s %d, ", stack_text(&seen), was_on_own_stack);
    printf("%d\n", sigaltstack(&none, NULL));
    compute(0.05);
  }
  return 0;
}

/* Closes what it did not open, by each of libc's doors, and writes over it. */
static int closes(void) {
  int closed = 0;
  for (int fd = 3; fd < 1100; fd++) closed += close(fd) == 0;
  printf("%d %d ", closed, close_range(3, ~0u, 0));
  closefrom(3);
  for (int fd = 3; fd < 1100; fd++) closed += fcntl(fd, F_GETFD) >= 0 && fd < 40;
  printf("%d\n", closed);
  int copied = 0, is_there = 0;
  for (int fd = 40; fd < 60; fd++) copied += dup2(1, fd) == fd;
  for (int fd = 990; fd < 1010; fd++) copied += dup2(1, fd) == fd;
  for (int fd = 40; fd < 60; fd++) is_there += close(fd) == 0;
  for (int fd = 990; fd < 1010; fd++) is_there += close(fd) == 0;
  printf("%s\n", copied == is_there && copied >= 20 ? "all of them" : "not all of them");
  compute(0.3);
  return 0;
}

static int a_child(void* nothing) {
  (void)nothing;
  for (int k = 0; k < 100; k++) {
    compute(0.001);
    COZ_PROGRESS_NAMED("round");
  }
  return 3;
}

/* Children that libc's fork knows nothing of. */
static int other_forks(void) {
  static char stack[256 * 1024] __attribute__((aligned(16)));
  int sum = 0, status = 0;
  pid_t child = _Fork();
  if (child == 0) _exit(a_child(NULL));
  child = (pid_t)syscall(SYS_fork);
  if (child == 0) _exit(a_child(NULL));
  child = clone(a_child, stack + sizeof stack, SIGCHLD, NULL);
  if (child < 0) return 2;
  while (wait(&status) > 0) sum += WEXITSTATUS(status);
  printf("%d\n", sum);
  return 0;
}

/* Traces a child of its own that goes on to compute. */
static int traces_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    compute(0.1);
    _exit(3);
  }
  int status = 0, stops = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    stops++;
    ptrace(PTRACE_CONT, child, NULL, NULL);
  }
  compute(0.05);
  printf("%d stop, then %d\n", stops, WEXITSTATUS(status));
  return 0;
}

/* Commands, and what they say. */
static int commands(void) {
  char said[64] = "";
  printf("%d ", WEXITSTATUS(system("exit 3")));
  FILE* const out = popen("echo hello; exit 4", "r");
  if (out == NULL || fgets(said, sizeof said, out) == NULL) return 2;
  printf("%d %s", WEXITSTATUS(pclose(out)), said);
  compute(0.05);
  return 0;
}

static sigjmp_buf again;
static void jumps(int signal) {
  (void)signal;
  siglongjmp(again, 1);
}

/* Computes for a time, as a bench does: a timer's handler jumps out of whatever goes on then. */
static int stops_itself(void) {
  const struct sigaction action = action_with(jumps, 0, 0);
  volatile int jumped = 0;
  sigaction(SIGALRM, &action, NULL);
  while (jumped < 100) {
    const struct itimerval soon = {{0, 0}, {0, 3000 + jumped * 17}};
    if (sigsetjmp(again, 1) == 0) {
      setitimer(ITIMER_REAL, &soon, NULL);
      for (;;) line_a(20000);
    }
    jumped++;
  }
  const double begun = clock_of(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < 100; i++) {
    compute(0.005);
    COZ_PROGRESS_NAMED("after");
  }
  printf("%d jumps, %s\n", jumped, clock_of(CLOCK_PROCESS_CPUTIME_ID) - begun >= 0.5 ? "and on" : "and no more");
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const char* what = argv[1];
  if (strcmp(what, "masks") == 0) return masks();
  if (strcmp(what, "waiting-trap") == 0) return waiting_trap();
  if (strcmp(what, "stacks") == 0) return stacks();
  if (strcmp(what, "closes") == 0) return closes();
  if (strcmp(what, "other-forks") == 0) return other_forks();
  if (strcmp(what, "traces-child") == 0) return traces_child();
  if (strcmp(what, "commands") == 0) return commands();
  if (strcmp(what, "stops-itself") == 0) return stops_itself();
  return 2;
}
