// A clock that somebody sets at every look: CLOCK_REALTIME goes a day on, then two days back, and so forth. Preloaded into the
// laboratory by clock_steps_test; programs that it measures have an environment of their own.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int looks;

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result != 0 || clock != CLOCK_REALTIME) return result;
  static const int days[] = {1, -1, 0, 30, -30};
  time->tv_sec += 86400L * days[atomic_fetch_add(&looks, 1) % 5];
  return 0;
}
