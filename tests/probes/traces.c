// A program must not notice its helper: no descriptor, child, signal, environment entry or errno that the plain
// build hasn't, and no interrupted system call. Prints what it finds; the plain build prints the same.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int errno_at_start = -1;

__attribute__((constructor)) static void early(void) { errno_at_start = errno; }

static void descriptors(void) {
  for (int fd = 0; fd < 1024; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) printf("fd %d\n", fd);
}

static void signals(void) {
  for (int i = 1; i < 65; ++i) {
    struct sigaction action;
    if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL) printf("signal %d is handled\n", i);
  }
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int i = 1; i < 65; ++i)
    if (sigismember(&mask, i) == 1) printf("signal %d is blocked\n", i);
  sigpending(&mask);
  for (int i = 1; i < 65; ++i)
    if (sigismember(&mask, i) == 1) printf("signal %d is pending\n", i);
}

static void children(void) {
  int status;
  const int waited = waitpid(-1, &status, WNOHANG);
  printf("waitpid %d %s\n", waited, waited < 0 ? strerror(errno) : "");
}

static void *write_late(void *fd) {
  const struct timespec rest = {0, 30000000};
  nanosleep(&rest, NULL);
  return write(*(int *)fd, "x", 1) == 1 ? fd : NULL;
}

static void check(const char *call, int result, int wanted) {
  if (result != wanted) printf("%s: %d %s\n", call, result, strerror(errno));
}

static void blocking_calls(void) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  const int epoll = epoll_create1(0);
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  for (int i = 0; i < 4; ++i) {
    struct pollfd waited = {ends[0], POLLIN, 0};
    check("poll", poll(&waited, 1, 30), 0);
    struct epoll_event event;
    check("epoll_wait", epoll_wait(epoll, &event, 1, 30), 0);
    const struct timespec rest = {0, 30000000};
    check("nanosleep", nanosleep(&rest, NULL), 0);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 30000000;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
    if (sem_timedwait(&semaphore, &until) != -1 || errno != ETIMEDOUT) printf("sem_timedwait: %s\n", strerror(errno));
    pthread_t thread;
    pthread_create(&thread, NULL, write_late, &ends[1]);
    char byte;
    check("read", (int)read(ends[0], &byte, 1), 1);
    pthread_join(thread, NULL);
  }
}

int main(int argc, char **argv) {
  printf("errno %d argc %d %s\n", errno_at_start, argc, argv[0]);
  descriptors();
  signals();
  children();
  blocking_calls();
  children();
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  printf("children's time %ld %ld\n", usage.ru_utime.tv_sec + usage.ru_utime.tv_usec, usage.ru_stime.tv_usec);
  descriptors();
  return 0;
}
