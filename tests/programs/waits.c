/* No call is interrupted because of layouts: poll, epoll_wait, nanosleep, sem_timedwait, read with a timeout.
   flags: -pthread */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "repeat.h"
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static volatile int stop;
static void* busy(void* unused) { while (!stop) CHECK(fib(10) == 55); return unused; }
int main(void) {
  pthread_t thread;
  int ends[2];
  sem_t never;
  const int set = epoll_create1(0);
  struct epoll_event event;
  CHECK(pipe(ends) == 0 && sem_init(&never, 0, 0) == 0);
  pthread_create(&thread, NULL, busy, NULL);
  for (int i = 0; i < 4; ++i) {
    struct pollfd wanted = {.fd = ends[0], .events = POLLIN};
    struct timespec ten = {0, 10 * 1000 * 1000}, left, until;
    CHECK(poll(&wanted, 1, 10) == 0);
    CHECK(epoll_wait(set, &event, 1, 10) == 0);
    CHECK(nanosleep(&ten, &left) == 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 10 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) { until.tv_nsec -= 1000000000; ++until.tv_sec; }
    CHECK(sem_timedwait(&never, &until) == -1 && errno == ETIMEDOUT);
  }
  stop = 1;
  pthread_join(thread, NULL);
  puts("waits ok");
}
