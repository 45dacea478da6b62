/* Programs whose habits are a profile's trouble: habits HABIT. Each prints what it saw, which is the same without a profile. */
#define _GNU_SOURCE
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../forbids.h"
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

static void* live_shortly(void* nothing) {
  compute(0.0008);
  return nothing;
}

/* Numbers that a profile may have taken for a moment, and which stay the program's once it has them. No thread leaves one behind.
 */
static int takes_descriptors(void) {
  enum { kFirst = 990, kEnd = 1016 };
  int lost = 0;
  for (int round = 0; round < 150; round++) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
      if (pthread_create(&threads[i], NULL, live_shortly, NULL) != 0) return 1;
    compute(0.0003);
    for (int fd = kFirst; fd < kEnd; fd++) dup2(0, fd);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int fd = kFirst; fd < kEnd; fd++) lost += fcntl(fd, F_GETFD) < 0;
    for (int fd = 3; fd < kEnd; fd++) close(fd);
  }
  pthread_t last;
  if (pthread_create(&last, NULL, live_shortly, NULL) != 0) return 1;
  pthread_join(last, NULL);
  printf("%d descriptors lost, the next is %d\n", lost, dup(0));
  return 0;
}

/* A sandbox in which a program may compute, write and end, and nothing else: any other call is its end. */
static int sandboxed(void) {
  compute(0.1);
  fflush(stdout);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 2;
  uint64_t sum = 0;
  for (int i = 0; i < 20000; i++) sum += line_a(20000);
  const char done[] = "computed in a sandbox\n";
  if (sum == 0 || write(1, done, sizeof done - 1) < 0) return 2;
  syscall(SYS_exit, 0);
  return 2;
}

/* Asks whether there could be a sandbox, as libraries do, and takes none. */
static int asks_for_sandbox(void) {
  const long answer = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
  compute(0.2);
  printf("%ld %s\n", answer, strerror(errno));
  return 0;
}

static int shares(void* stop_word) {
  for (int i = 0; i < 3000; i++) line_a(20000);
  __atomic_store_n((int*)stop_word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, stop_word, FUTEX_WAKE, 1, NULL, NULL, 0);
  syscall(SYS_exit, 0);
  return 0;
}

/* A thread that libc knows nothing of. */
static int clones(void) {
  static int ended = 0;
  static char stack[256 * 1024] __attribute__((aligned(16)));
  const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  if (clone(shares, stack + sizeof stack, flags, &ended) < 0) return 2;
  compute(0.05);
  while (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) == 0) syscall(SYS_futex, &ended, FUTEX_WAIT, 0, NULL, NULL, 0);
  printf("%d\n", ended);
  return 0;
}

static volatile sig_atomic_t alarms = 0;
static void on_alarm(int signal) {
  (void)signal;
  alarms++;
}

/* A time-out of its own ends a wait when it said, and is not taken for a sample. */
static int times_out(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  compute(0.1);
  const struct itimerval soon = {{0, 0}, {0, 500000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  const int ended = poll(NULL, 0, 60000);
  printf("%d alarm, %s\n", (int)alarms, ended < 0 && errno == EINTR ? "EINTR" : "no EINTR");
  return 0;
}

/* Under a tracer of its own, which passes every signal on. */
static int traced(char* self) {
  if (getenv("HABIT_PROGRAM") != NULL) self = getenv("HABIT_PROGRAM");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execl(self, self, "silent", (char*)NULL);
    _exit(1);
  }
  int status = 0, traps = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    const int signal = WSTOPSIG(status);
    const int is_trap = signal == SIGTRAP;
    traps += is_trap;
    ptrace(PTRACE_CONT, child, NULL, (void*)(long)(is_trap ? 0 : signal));
  }
  printf("ended %d after %d traps\n", status, traps);
  return 0;
}

/* A message waits in libc while something is called for the first time. */
static int keeps_dlerror(void) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  const int found = dlopen("/no/such/library.so", RTLD_NOW) != NULL;
  sem_post(&semaphore);
  sem_wait(&semaphore);
  const char* const text = dlerror();
  printf("%d %s\n", found, text == NULL ? "no message" : "a message");
  return 0;
}

/* As before an exec, by each of libc's doors. */
static int resets_all(void) {
  struct sigaction now;
  for (int i = 1; i < NSIG; i++) sysv_signal(i, SIG_DFL);
  compute(0.05);
  for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
  compute(0.05);
  sigignore(SIGTRAP);
  compute(0.05);
  sigaction(SIGTRAP, NULL, &now);
  raise(SIGTRAP);
  printf("%s\n", now.sa_handler == SIG_IGN ? "ignored" : "not ignored");
  return 0;
}

/* What an instruction traps by is not ignored, and a handler once is once. */
static int once_only(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  for (int how = 0; how < 2; how++) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      action.sa_handler = how == 0 ? SIG_IGN : on_trap;
      action.sa_flags = how == 0 ? 0 : (int)SA_RESETHAND;
      sigaction(SIGTRAP, &action, NULL);
      compute(0.02);
      raise(SIGTRAP);
      if (how == 0 || traps == 1) __asm__ volatile("int3");
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
  }
  return 0;
}

static jmp_buf again;
static void jumps(int signal) {
  (void)signal;
  traps++;
  longjmp(again, 1);
}

/* Leaves its handler for good, with the mask as it is there. */
static int jumps_out(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = jumps;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGTRAP, &action, NULL);
  setjmp(again);
  compute(0.02);
  if (traps < 3) __asm__ volatile("int3");
  printf("%d\n", (int)traps);
  return 0;
}

static size_t signal_bytes(void) {
  const size_t page = 4096;
  return (getauxval(AT_MINSIGSTKSZ) + 1024 + page - 1) / page * page;
}

/* Leaves 1.5 KB of its stack. */
static void computes(int signal) {
  (void)signal;
  const size_t bytes = signal_bytes() - getauxval(AT_MINSIGSTKSZ);
  volatile char used[bytes > 1600 ? bytes - 1500 : 100];
  used[0] = 1;
  compute(0.1);
}

/* A stack for handlers that has room for one, and nothing behind it. */
static int small_stack(void) {
  if (handle_on_small_stack(signal_bytes(), computes) != 0) return 2;
  computes(0);  // elsewhere, as the first call of each function takes more stack
  for (int i = 0; i < 3; i++) raise(SIGUSR1);
  return puts("done") < 0;
}

static void* waits_for_stop(void* nothing) {
  while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) line_a(20000);
  return nothing;
}

/* Threads end after a filter has come that knows no call but what they need. */
static int ends_in_sandbox(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, waits_for_stop, NULL) != 0) return 2;
  compute(0.05);
  const int calls[] = {SYS_getrusage, SYS_sigaltstack, SYS_timer_delete};
  if (forbid_calls(calls, 3, SECCOMP_FILTER_FLAG_TSYNC) != 0) return 2;
  __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
  pthread_join(thread, NULL);
  return puts("ended") < 0;
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
  if (strcmp(habit, "takes-descriptors") == 0) return takes_descriptors();
  if (strcmp(habit, "sandboxed") == 0) return sandboxed();
  if (strcmp(habit, "asks-for-sandbox") == 0) return asks_for_sandbox();
  if (strcmp(habit, "clones") == 0) return clones();
  if (strcmp(habit, "times-out") == 0) return times_out();
  if (strcmp(habit, "traced") == 0) return traced(argv[0]);
  if (strcmp(habit, "keeps-dlerror") == 0) return keeps_dlerror();
  if (strcmp(habit, "resets-all") == 0) return resets_all();
  if (strcmp(habit, "once-only") == 0) return once_only();
  if (strcmp(habit, "jumps-out") == 0) return jumps_out();
  if (strcmp(habit, "small-stack") == 0) return small_stack();
  if (strcmp(habit, "ends-in-sandbox") == 0) return ends_in_sandbox();
  if (strcmp(habit, "short") == 0) return puts("done") < 0;
  if (strcmp(habit, "silent") == 0) {
    compute(0.2);
    return puts("done") < 0;
  }
  return 2;
}
