/* A stack overflow is caught on the alternate stack, as in the plain program. */
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include "repeat.h"
static sigjmp_buf out;
static void on_fault(int number) { siglongjmp(out, number); }
NOINLINE static int endless(volatile int* up) { volatile int here = *up + 1; return endless(&here) + here; }
int main(void) {
  static char stack[64 * 1024];
  stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
  volatile int zero = 0;
  volatile int rounds = 0;
  CHECK(sigaltstack(&own, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
  REPEAT CHECK(rounds == 0);
  for (; rounds < 3; ++rounds) {
    const int signal_number = sigsetjmp(out, 1);
    if (signal_number == 0) CHECK(endless(&zero) == 0);
    CHECK(signal_number == SIGSEGV);
  }
  puts("overflow ok");
}
