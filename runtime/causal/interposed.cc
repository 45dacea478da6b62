// The calls of calls.inc, and those that are about threads and SIGTRAP themselves.
//
// Each is defined under libc's name by an asm label, so that its type needs no agreement with libc's headers about what is
// noexcept. Where nothing is profiled each passes its call on.
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/last_writer.h"
#include "runtime/causal/moment.h"
#include "runtime/causal/readiness.h"
#include "runtime/causal/real.h"
#include "runtime/causal/regions.h"

namespace stab::causal {

void* find_real(const char* name) {
  // Condition variables have an older version that dlsym may prefer, with another layout.
  void* found = strncmp(name, "pthread_cond_", 13) == 0 ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : nullptr;
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  return found;
}

namespace {

// Did a call end because its time was over?
bool timed_out(long result) { return result == ETIMEDOUT || (result == -1 && (errno == ETIMEDOUT || errno == EAGAIN)); }

// Calls that may give a reason to wait, and may not be called on a thread that has begun to end.
struct Accounting {
  explicit Accounting(Waits what) : wait(start_wait(what)) {}
  // `why` is the class that the script may want sped up, `caller` who waited.
  void end(Waits by, uint64_t why, const void* caller) {
    const int saved_errno = errno;
    finish_wait(wait, by, why, reinterpret_cast<uint64_t>(caller));
    errno = saved_errno;
  }
  Wait wait;
};

void pay_first() {
  if (!is_profiled() || !must_pay()) return;
  const int saved_errno = errno;
  pay();
  errno = saved_errno;
}

}  // namespace
}  // namespace stab::causal

#define STAB_INTERPOSED(RESULT, NAME, PARAMETERS)                                                        \
  extern "C" __attribute__((visibility("default"))) RESULT stab_causal_##NAME PARAMETERS __asm__(#NAME); \
  RESULT stab_causal_##NAME PARAMETERS

// The real function, looked for once; two threads that look at once find the same.
#define STAB_REAL(NAME, ...)                                                                    \
  using Real = __VA_ARGS__;                                                                     \
  static Real real = nullptr;                                                                   \
  if (__builtin_expect(real == nullptr, 0)) real = reinterpret_cast<Real>(stab::causal::find_real(#NAME))

#define STAB_BODY_WAKES(RESULT, NAME, ARGUMENTS) \
  pay_first();                                   \
  return real ARGUMENTS;

#define STAB_BODY_OURS(RESULT, NAME, ARGUMENTS)                  \
  if (!is_profiled()) return real ARGUMENTS;                     \
  Accounting accounting(kForOurs);                               \
  const RESULT result = real ARGUMENTS;                          \
  accounting.end(timed_out(result) ? kForWorld : kForOurs, kScriptBlockedLock, __builtin_return_address(0)); \
  return result;
#define STAB_BODY_BOTH STAB_BODY_OURS

#define STAB_BODY_FAST_OURS(RESULT, NAME, ARGUMENTS)             \
  if (!is_profiled()) return real ARGUMENTS;                     \
  if (const int tried = stab_try_##NAME(lock); tried != kBusy(tried)) return tried; \
  STAB_BODY_OURS(RESULT, NAME, ARGUMENTS)

#define STAB_BODY_WORLD_FOR(WHY, RESULT, ARGUMENTS)              \
  if (!is_profiled()) return real ARGUMENTS;                     \
  Accounting accounting(kForWorld);                              \
  const RESULT result = real ARGUMENTS;                          \
  accounting.end(kForWorld, WHY, __builtin_return_address(0));   \
  return result;
#define STAB_BODY_WORLD(RESULT, NAME, ARGUMENTS) STAB_BODY_WORLD_FOR(kScriptBlockedIo, RESULT, ARGUMENTS)
#define STAB_BODY_SLEEPS(RESULT, NAME, ARGUMENTS) STAB_BODY_WORLD_FOR(kScriptBlockedSleep, RESULT, ARGUMENTS)

#define STAB_BODY_READY(RESULT, NAME, ARGUMENTS)                                                             \
  if (!is_profiled()) return real ARGUMENTS;                                                                \
  Accounting accounting(kForWorld);                                                                         \
  const RESULT result = real ARGUMENTS;                                                                     \
  const Woken woken{accounting.wait.since_ns, result};                                                      \
  accounting.end(woken.NAME ARGUMENTS ? kForOurs : kForWorld, kScriptBlockedIo, __builtin_return_address(0)); \
  return result;

#define STAB_BODY_READS(RESULT, NAME, ARGUMENTS)                               \
  if (!is_profiled()) return real ARGUMENTS;                                   \
  Accounting accounting(kForWorld);                                            \
  const RESULT result = real ARGUMENTS;                                        \
  if (result > 0) note_reader(fd);                                             \
  accounting.end(class_matters() && last_writer_is_ours(fd, accounting.wait.since_ns) ? kForOurs : kForWorld, kScriptBlockedIo, \
                 __builtin_return_address(0));                                 \
  return result;

#define STAB_BODY_WRITES(RESULT, NAME, ARGUMENTS) \
  if (!is_profiled()) return real ARGUMENTS;      \
  pay_first();                                    \
  note_writer(fd);                                \
  return real ARGUMENTS;

namespace stab::causal {
namespace {
// Both kinds of locks say busy by numbers of their own.
inline int kBusy(int tried) { return tried == EBUSY || tried == thrd_busy ? tried : -1; }
}  // namespace
}  // namespace stab::causal

// First the functions that try, then all.
#define STAB_CALL(CLASS, RESULT, NAME, PARAMETERS, ARGUMENTS)
#define STAB_TRY(NAME, TRY, PARAMETERS)                 \
  static inline int stab_try_##NAME PARAMETERS {        \
    STAB_REAL(TRY, int(*) PARAMETERS);                  \
    return real(lock);                                  \
  }
#include "runtime/causal/calls.inc"
#undef STAB_CALL
#undef STAB_TRY
#define STAB_TRY(NAME, TRY, PARAMETERS)
#define STAB_CALL(CLASS, RESULT, NAME, PARAMETERS, ARGUMENTS)  \
  STAB_INTERPOSED(RESULT, NAME, PARAMETERS) {                  \
    using namespace stab::causal;                              \
    STAB_REAL(NAME, RESULT(*) PARAMETERS);                     \
    STAB_BODY_##CLASS(RESULT, NAME, ARGUMENTS)                 \
  }
#include "runtime/causal/calls.inc"
#undef STAB_CALL
#undef STAB_TRY

// ---------------------------------------------------------------------------------------------------------
// Which descriptor an event of epoll's is about.
STAB_INTERPOSED(int, epoll_ctl, (int epoll, int operation, int fd, epoll_event* event)) {
  using namespace stab::causal;
  STAB_REAL(epoll_ctl, int (*)(int, int, int, epoll_event*));
  const int result = real(epoll, operation, fd, event);
  if (result == 0 && is_profiled()) note_registration(epoll, operation, fd, event);
  return result;
}

// ---------------------------------------------------------------------------------------------------------
// A sandbox of the program's own may end it for any call that it doesn't know, those of a sample included.
namespace stab::causal {
namespace {

// Of seccomp's operation; a filter that is no filter only asks whether there could be one.
bool is_sandbox(long operation, long filter) {
  return operation == SECCOMP_SET_MODE_STRICT || (operation == SECCOMP_SET_MODE_FILTER && filter != 0);
}

void enter_sandbox() {
  degrade(*program.area, Degraded::kSandboxed);
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

// ---------------------------------------------------------------------------------------------------------
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
  if (number == SYS_prctl && a[0] == PR_SET_SECCOMP && is_sandbox(a[1] == SECCOMP_MODE_FILTER, a[2])) enter_sandbox();
  if (number != SYS_futex) return pass();
  switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI: {
      Accounting accounting(kForOurs);
      const long result = pass();
      accounting.end(result == -1 && errno == ETIMEDOUT ? kForWorld : kForOurs, kScriptBlockedLock, __builtin_return_address(0));
      return result;
    }
    default: pay_first(); return pass();
  }
}

// ---------------------------------------------------------------------------------------------------------
// Threads

namespace stab::causal {
namespace {

pthread_key_t end_key;
bool end_key_made = false;

void thread_ends(void*) {
  leave();
  end_thread_sampling();
  free_alternate_stack();
}

struct Start {
  void* (*function)(void*);
  int (*plain)(void*);
  void* argument;
};

void* enter_thread(void* given) {
  const Start start = *static_cast<Start*>(given);
  free(given);
  give_alternate_stack();
  arrive();
  start_thread_sampling();
  if (end_key_made) pthread_setspecific(end_key, &self);
  if (start.plain != nullptr) return reinterpret_cast<void*>(static_cast<intptr_t>(start.plain(start.argument)));
  return start.function(start.argument);
}
int enter_plain_thread(void* given) { return static_cast<int>(reinterpret_cast<intptr_t>(enter_thread(given))); }

// The memory goes with the thread. nullptr: none is left, and the thread starts without us.
Start* start_of(void* (*function)(void*), int (*plain)(void*), void* argument) {
  auto* start = static_cast<Start*>(malloc(sizeof(Start)));
  if (start != nullptr) *start = {function, plain, argument};
  return start;
}

}  // namespace

// In the thread that attached.
void follow_threads() {
  if (!end_key_made) end_key_made = pthread_key_create(&end_key, thread_ends) == 0;
  if (end_key_made) pthread_setspecific(end_key, &self);
}

}  // namespace stab::causal

STAB_INTERPOSED(int, pthread_create,
                (pthread_t * thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument)) {
  using namespace stab::causal;
  STAB_REAL(pthread_create, int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*));
  Start* const start = is_profiled() ? start_of(function, nullptr, argument) : nullptr;
  if (start == nullptr) return real(thread, attributes, function, argument);
  pay_first();
  count_threads(*program.area, *program.process, 1);
  const int failed = real(thread, attributes, enter_thread, start);
  if (failed != 0) {
    count_threads(*program.area, *program.process, -1);
    free(start);
  }
  return failed;
}

STAB_INTERPOSED(int, thrd_create, (thrd_t * thread, thrd_start_t function, void* argument)) {
  using namespace stab::causal;
  STAB_REAL(thrd_create, int (*)(thrd_t*, thrd_start_t, void*));
  Start* const start = is_profiled() ? start_of(nullptr, function, argument) : nullptr;
  if (start == nullptr) return real(thread, function, argument);
  pay_first();
  count_threads(*program.area, *program.process, 1);
  const int failed = real(thread, enter_plain_thread, start);
  if (failed != thrd_success) {
    count_threads(*program.area, *program.process, -1);
    free(start);
  }
  return failed;
}

// ---------------------------------------------------------------------------------------------------------
// SIGTRAP: the program may have a handler of its own, and may not block it.

namespace stab::causal {
namespace {

struct sigaction own_action;
uint32_t own_action_lock = 0;

void without_trap(const sigset_t* set, sigset_t& out) {
  out = *set;
  sigdelset(&out, SIGTRAP);
}

}  // namespace

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  STAB_REAL(sigaction, int (*)(int, const struct sigaction*, struct sigaction*));
  return real(signal, action, before);
}
struct sigaction own_trap_action() { return own_action; }
void set_own_trap_action(const struct sigaction& action) {
  // Read by handlers: whoever changes it at the same time waits, a handler never does.
  while (__atomic_exchange_n(&own_action_lock, 1u, __ATOMIC_ACQUIRE) != 0) {
  }
  own_action = action;
  __atomic_store_n(&own_action_lock, 0u, __ATOMIC_RELEASE);
}

}  // namespace stab::causal

STAB_INTERPOSED(int, sigaction, (int signal, const struct sigaction* action, struct sigaction* before)) {
  using namespace stab::causal;
  if (!is_profiled() || (signal != SIGTRAP && action == nullptr)) return real_sigaction(signal, action, before);
  if (signal == SIGTRAP) {
    const struct sigaction now = own_trap_action();
    if (action != nullptr) {
      set_own_trap_action(*action);
      if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) degrade(*program.area, Degraded::kSharedTrap);
    }
    if (before != nullptr) *before = now;
    return 0;
  }
  struct sigaction changed = *action;
  sigdelset(&changed.sa_mask, SIGTRAP);
  return real_sigaction(signal, &changed, before);
}

STAB_INTERPOSED(sighandler_t, signal, (int number, sighandler_t handler)) {
  using namespace stab::causal;
  STAB_REAL(signal, sighandler_t (*)(int, sighandler_t));
  if (!is_profiled() || number != SIGTRAP) return real(number, handler);
  const struct sigaction now = own_trap_action();
  struct sigaction wanted;
  memset(&wanted, 0, sizeof wanted);
  wanted.sa_handler = handler;
  wanted.sa_flags = SA_RESTART;
  set_own_trap_action(wanted);
  if (handler != SIG_DFL && handler != SIG_IGN) degrade(*program.area, Degraded::kSharedTrap);
  return now.sa_handler;
}

STAB_INTERPOSED(int, sigprocmask, (int how, const sigset_t* set, sigset_t* before)) {
  using namespace stab::causal;
  STAB_REAL(sigprocmask, int (*)(int, const sigset_t*, sigset_t*));
  if (!is_profiled() || set == nullptr || how == SIG_UNBLOCK) return real(how, set, before);
  sigset_t changed;
  without_trap(set, changed);
  return real(how, &changed, before);
}

STAB_INTERPOSED(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* before)) {
  using namespace stab::causal;
  STAB_REAL(pthread_sigmask, int (*)(int, const sigset_t*, sigset_t*));
  if (!is_profiled() || set == nullptr || how == SIG_UNBLOCK) return real(how, set, before);
  sigset_t changed;
  without_trap(set, changed);
  return real(how, &changed, before);
}

// ---------------------------------------------------------------------------------------------------------
// Ends.

STAB_INTERPOSED(void, _exit, (int status)) {
  using namespace stab::causal;
  pay_first();
  if (is_profiled()) say_goodbye();
  stab::sys::exit_process(status);
}
STAB_INTERPOSED(void, _Exit, (int status)) {
  using namespace stab::causal;
  pay_first();
  if (is_profiled()) say_goodbye();
  stab::sys::exit_process(status);
}
