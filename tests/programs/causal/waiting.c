/* One thread: 1 ms of work (line_a), and before it what the first argument says, which takes 2 ms:
 *
 *   condition, semaphore   a time-out, for want of anybody who wakes it
 *   signal                 a timer's signal
 *   helper                 a sleep, beside a child that has executed another program
 *   lines, bytes           a line, or as many bytes, read by libc's streams from another program that answers when it is asked
 *   full-pipe              a write into a pipe whose reader, a child of its own, empties it each 2 ms: so long takes each round
 *   kernel                 a read that finds what it wants, and computes in the kernel for about so long
 *   child                  4 ms of work (line_a) in a child, and 2 ms (line_b) in the parent after that has ended */
#define _GNU_SOURCE
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

LINE(line_a)
LINE(line_b)

enum { kWaitNs = 2000000, kPipeBytes = 4096 };

static struct timespec later(clockid_t which) {
  struct timespec until;
  clock_gettime(which, &until);
  until.tv_nsec += kWaitNs;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
  return until;
}

static void wait_for_condition(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  const struct timespec until = later(CLOCK_REALTIME);
  pthread_mutex_lock(&mutex);
  while (pthread_cond_timedwait(&condition, &mutex, &until) == 0) {
  }
  pthread_mutex_unlock(&mutex);
}

static void wait_for_semaphore(void) {
  static sem_t semaphore;
  const struct timespec until = later(CLOCK_REALTIME);
  if (sem_timedwait(&semaphore, &until) == 0) abort();
}

static void wait_for_signal(void) {
  static timer_t timer;
  static sigset_t set;
  static int made = 0;
  if (!made) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
    made = 1;
  }
  const struct itimerspec once = {{0, 0}, {0, kWaitNs}};
  int came = 0;
  if (timer_settime(timer, 0, &once, NULL) != 0 || sigwait(&set, &came) != 0) abort();
}

static void nap(void) {
  const struct timespec time = {0, kWaitNs};
  nanosleep(&time, NULL);
}

static pid_t start_helper(void) {
  const pid_t helper = fork();
  if (helper != 0) return helper;
  execlp("sleep", "sleep", "1000", (char*)NULL);
  _exit(1);
}

static int ends[2];

static void write_into_pipe(void) {
  static const char much[kPipeBytes];
  if (write(ends[1], much, sizeof much) != sizeof much) abort();
}

static pid_t start_reader(void) {
  if (pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes) < 0) abort();
  const pid_t reader = fork();
  if (reader != 0) {
    close(ends[0]);
    return reader;
  }
  close(ends[1]);
  static char room[kPipeBytes];
  do nap();
  while (read(ends[0], room, sizeof room) > 0);
  _exit(0);
}

/* Answers each byte with a line, 2 ms later. */
static int answer(void) {
  char asked;
  while (read(0, &asked, 1) == 1) {
    nap();
    if (write(1, "answer\n", 7) != 7) return 1;
  }
  return 0;
}

static FILE* answers;
static void ask(void) {
  if (write(ends[1], "?", 1) != 1) abort();
}
static void wait_for_line(void) {
  char line[64];
  ask();
  if (fgets(line, sizeof line, answers) == NULL) abort();
}
static void wait_for_bytes(void) {
  char bytes[7];
  ask();
  if (fread(bytes, 1, sizeof bytes, answers) != sizeof bytes) abort();
}

/* Another program, which nobody profiles. */
static pid_t start_answering(const char* self) {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) abort();
  const pid_t other = fork();
  if (other == 0) {
    dup2(to[0], 0);
    dup2(from[1], 1);
    close(to[1]);
    execl(self, self, "answer", (char*)NULL);
    _exit(1);
  }
  close(to[0]);
  close(from[1]);
  ends[1] = to[1];
  answers = fdopen(from[0], "r");
  return other;
}

static char* room_for_zeros;
static int zeros;
enum { kZeros = 16000000 };
static void compute_in_kernel(void) {
  if (read(zeros, room_for_zeros, kZeros) <= 0) abort();
}
static void open_zeros(void) {
  zeros = open("/dev/zero", O_RDONLY);
  room_for_zeros = mmap(NULL, kZeros, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (zeros < 0 || room_for_zeros == MAP_FAILED) abort();
}

static int use_children(void) {
  const uint64_t a = rounds("line_a", 4000), b = rounds("line_b", 2000);
  long done = 0;
  for (; clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds; done++) {
    const pid_t child = fork();
    if (child == 0) {
      line_a(a);
      _exit(0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) abort();
    line_b(b);
    COZ_PROGRESS_NAMED("round");
  }
  printf("%ld rounds\n", done);
  return 0;
}

int main(int argc, char** argv) {
  const int has_kind = argc > 1 && argv[1][0] != '-';
  const char* const kind = has_kind ? argv[1] : "";
  read_options(argc - has_kind, argv + has_kind, line_a);
  const uint64_t mine = rounds("line_a", 1000);
  void (*waits)(void) = NULL;
  pid_t reader = 0, helper = 0;
  if (strcmp(kind, "child") == 0) return use_children();
  if (strcmp(kind, "condition") == 0) waits = wait_for_condition;
  if (strcmp(kind, "semaphore") == 0) waits = wait_for_semaphore;
  if (strcmp(kind, "signal") == 0) waits = wait_for_signal;
  if (strcmp(kind, "helper") == 0) waits = nap, helper = start_helper();
  if (strcmp(kind, "answer") == 0) return answer();
  if (strcmp(kind, "lines") == 0) waits = wait_for_line, reader = start_answering(argv[0]);
  if (strcmp(kind, "bytes") == 0) waits = wait_for_bytes, reader = start_answering(argv[0]);
  if (strcmp(kind, "full-pipe") == 0) waits = write_into_pipe, reader = start_reader();
  if (strcmp(kind, "kernel") == 0) waits = compute_in_kernel, open_zeros();
  if (waits == NULL) return 2;
  long done = 0;
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    waits();
    line_a(mine);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  if (helper > 0) {
    kill(helper, SIGKILL);
    waitpid(helper, NULL, 0);
  }
  if (reader > 0) {
    close(ends[1]);
    waitpid(reader, NULL, 0);
  }
  printf("%ld rounds\n", done);
  return 0;
}
