// System calls by number, and sandboxes, which a program enters by prctl or by number.
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/interposed.h"

// Those that are defined here.
#define STAB_NUMBERED(ONE) ONE(prctl) ONE(syscall)
STAB_NUMBERED(STAB_KEPT)

namespace stab::causal {

void find_real_numbered() { STAB_NUMBERED(STAB_FIND) }

// A sandbox of the program's own may end it for any call that it doesn't know, those of a sample included.
namespace {

// Of seccomp's operation; a filter that is no filter only asks whether there could be one.
bool is_sandbox(long operation, long filter) {
  return operation == SECCOMP_SET_MODE_STRICT || (operation == SECCOMP_SET_MODE_FILTER && filter != 0);
}

void enter_sandbox() {
  degrade(*program.area, Degraded::kSandboxed);
  list_modules(*program.area);
  say_goodbye();
  stop_sampling();
  program.is_silent = true;
}

}  // namespace
}  // namespace stab::causal

STAB_INTERPOSED(int, prctl, (int option, ...)) {
  using namespace stab::causal;
  va_list list;
  va_start(list, option);
  unsigned long a[4];
  for (unsigned long& argument : a) argument = va_arg(list, unsigned long);
  va_end(list);
  STAB_REAL(prctl, int (*)(int, ...));
  if (is_profiled() && option == PR_SET_SECCOMP && is_sandbox(a[0] == SECCOMP_MODE_FILTER, static_cast<long>(a[1])))
    enter_sandbox();
  return real(option, a[0], a[1], a[2], a[3]);
}

// System calls by number. What makes a process there is a fork without its hooks; and newer ways to wait have no function yet,
// or an older libc has none.
namespace stab::causal {
namespace {

bool makes_process(long number, const long* arguments) {
  if (number == SYS_fork) return true;
  constexpr uint64_t kShared = CLONE_VM | CLONE_FILES;
  if (number == SYS_clone) return (static_cast<uint64_t>(arguments[0]) & kShared) == 0;
  // Its first word is the flags.
  return number == SYS_clone3 && arguments[0] != 0 && (*reinterpret_cast<const uint64_t*>(arguments[0]) & kShared) == 0;
}

Waits waits_by_number(long number, const long* arguments) {
  constexpr long kFutexWaitv = 449;  // which the kernel's headers of Debian 12 have, and older ones have not
  if (number == kFutexWaitv) return kForOurs;
  if (number == SYS_epoll_pwait2) return kForWorld;
  const bool waits_for_one = number == SYS_io_uring_enter && arguments[2] > 0;
  return waits_for_one ? kForWorld : kNot;
}

}  // namespace
}  // namespace stab::causal

// Futexes by hand: libstdc++'s atomic waits, guards and futures, and Rust's std, call syscall().
STAB_INTERPOSED(long, syscall, (long number, ...)) {
  using namespace stab::causal;
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  STAB_REAL(syscall, long (*)(long, ...));
  const auto pass = [&] { return real(number, a[0], a[1], a[2], a[3], a[4], a[5]); };
  if (!is_profiled()) return pass();
  if (number == SYS_seccomp && is_sandbox(a[0], a[2])) enter_sandbox();
  if (number == SYS_rt_sigaction && a[0] == SIGTRAP && a[1] != 0) {  // behind our back: a sample would be the program's
    degrade(*program.area, Degraded::kHandlerReplaced);
    stop_sampling();
  }
  if (number == SYS_prctl && a[0] == PR_SET_SECCOMP && is_sandbox(a[1] == SECCOMP_MODE_FILTER, a[2])) enter_sandbox();
  if (makes_process(number, a)) {
    pay_first();
    const long result = pass();
    if (result == 0) begin_child();
    return result;
  }
  if (const Waits what = waits_by_number(number, a); what != kNot) {
    Accounting accounting(what);
    const long result = pass();
    accounting.end(result == -1 && errno == ETIMEDOUT ? kForWorld : what,
                   what == kForOurs ? kScriptBlockedLock : kScriptBlockedIo, __builtin_return_address(0));
    return result;
  }
  if (number != SYS_futex) return pass();
  switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI: {
      Accounting accounting(kForOurs);
      const long result = pass();
      accounting.end(result == -1 && errno == ETIMEDOUT ? kForWorld : kForOurs, kScriptBlockedLock, __builtin_return_address(0));
      return result;
    }
    default: pay_first(); return pass();
  }
}
