/* Handlers at any instruction, on their own stack, some leaving by siglongjmp. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include "repeat.h"
static sigjmp_buf out;
static volatile sig_atomic_t ticks, jumps, may_jump;
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void on_alarm(int number) {
  (void)number;
  ++ticks;
  CHECK(fib(6) == 8);
  if (may_jump && ticks % 5 == 0) { may_jump = 0; siglongjmp(out, 1); }
}
int main(void) {
  static char stack[64 * 1024];
  stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
  struct itimerval every = {{0, 700}, {0, 700}};
  CHECK(sigaltstack(&own, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
  setitimer(ITIMER_REAL, &every, NULL);
  for (double end = seconds_now() + REPEAT_SECONDS; seconds_now() < end || ticks < 10 || jumps == 0;) {
    if (sigsetjmp(out, 1) != 0) { ++jumps; continue; }
    may_jump = 1;
    CHECK(fib(15) == 610);
    may_jump = 0;
  }
  memset(&every, 0, sizeof every);
  setitimer(ITIMER_REAL, &every, NULL);
  puts("signals ok");
}
