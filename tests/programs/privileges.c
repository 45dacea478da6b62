/* Dropping privileges in the middle, a user namespace where one may have it, and no_new_privs: the program goes on. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "repeat.h"
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
  REPEAT CHECK(fib(12) == 144);
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  if (getuid() == 0) CHECK(setgid(65534) == 0 && setuid(65534) == 0 && setuid(0) != 0);
  REPEAT CHECK(fib(12) == 144);
  (void)!unshare(CLONE_NEWUSER);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  REPEAT CHECK(fib(12) == 144);
  puts("privileges ok");
}
