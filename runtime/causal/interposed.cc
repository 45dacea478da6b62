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

#include <string_view>

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

// C11's calls have numbers of their own for what they return.
constexpr bool is_c11(std::string_view name) { return name.starts_with("cnd_") || name.starts_with("mtx_"); }

// Did a call end because its time was over?
bool timed_out(std::string_view name, long result) {
  if (is_c11(name)) return result == thrd_timedout;
  return result == ETIMEDOUT || (result == -1 && (errno == ETIMEDOUT || errno == EAGAIN));
}

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

// The real functions. All are looked up before main (find_all_real): dlsym forgets what the program's dlerror() would say, and
// waits for a dlopen whose constructor may wait for the thread that calls. What calls before that looks for itself; two threads
// that look at once find the same.
namespace stab::causal {
namespace {
struct RealName {
  void* found;
  const char* name;
};
void* real_of(RealName& one) {
  if (__builtin_expect(one.found == nullptr, 0)) one.found = find_real(one.name);
  return one.found;
}
}  // namespace
}  // namespace stab::causal
// Those that are defined by hand below.
#define STAB_BY_HAND(ONE)                                                                                                   \
  ONE(epoll_ctl) ONE(prctl) ONE(syscall) ONE(pthread_create) ONE(thrd_create) ONE(sigaction) ONE(signal) ONE(__sysv_signal) \
  ONE(sigset) ONE(sigprocmask) ONE(pthread_sigmask)
#define STAB_KEPT(NAME) static stab::causal::RealName stab_real_##NAME = {nullptr, #NAME};
#define STAB_CALL(CLASS, RESULT, NAME, PARAMETERS, ARGUMENTS) STAB_KEPT(NAME)
#define STAB_TRY(NAME, TRY, PARAMETERS) static stab::causal::RealName stab_real_try_##NAME = {nullptr, #TRY};
#include "runtime/causal/calls.inc"
STAB_BY_HAND(STAB_KEPT)
#undef STAB_CALL
#undef STAB_TRY
namespace stab::causal {
void find_all_real() {
#define STAB_FIND(NAME) real_of(stab_real_##NAME);
#define STAB_CALL(CLASS, RESULT, NAME, PARAMETERS, ARGUMENTS) STAB_FIND(NAME)
#define STAB_TRY(NAME, TRY, PARAMETERS) STAB_FIND(try_##NAME)
#include "runtime/causal/calls.inc"
  STAB_BY_HAND(STAB_FIND)
#undef STAB_CALL
#undef STAB_TRY
  dlerror();  // of a name that this libc hasn't
}
}  // namespace stab::causal

#define STAB_REAL(NAME, ...)    \
  using Real = __VA_ARGS__;     \
  const Real real = reinterpret_cast<Real>(stab::causal::real_of(stab_real_##NAME))

#define STAB_BODY_WAKES(RESULT, NAME, ARGUMENTS) \
  pay_first();                                   \
  return real ARGUMENTS;

#define STAB_BODY_OURS(RESULT, NAME, ARGUMENTS)                  \
  if (!is_profiled()) return real ARGUMENTS;                     \
  Accounting accounting(kForOurs);                               \
  const RESULT result = real ARGUMENTS;                          \
  accounting.end(timed_out(#NAME, result) ? kForWorld : kForOurs, kScriptBlockedLock, __builtin_return_address(0)); \
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
    STAB_REAL(try_##NAME, int(*) PARAMETERS);           \
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
  if (number == SYS_rt_sigaction && a[0] == SIGTRAP && a[1] != 0) {  // behind our back: a sample would be the program's
    degrade(*program.area, Degraded::kHandlerReplaced);
    stop_sampling();
  }
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
  if (program.is_silent) return;
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
  if (is_profiled()) {  // not where the program has gone into a sandbox meanwhile
    give_alternate_stack();
    arrive();
    start_thread_sampling();
    if (end_key_made) pthread_setspecific(end_key, &self);
  }
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
  // Read by handlers. Whoever changes it at the same time waits; a handler that changed it, too, would wait for what it
  // interrupts.
  const uint64_t all = ~uint64_t{0};
  uint64_t before = 0;
  sys::call(SYS_rt_sigprocmask, SIG_BLOCK, sys::word(&all), sys::word(&before), sizeof all);
  while (__atomic_exchange_n(&own_action_lock, 1u, __ATOMIC_ACQUIRE) != 0) {
  }
  own_action = action;
  __atomic_store_n(&own_action_lock, 0u, __ATOMIC_RELEASE);
  sys::call(SYS_rt_sigprocmask, SIG_SETMASK, sys::word(&before), 0, sizeof before);
}
void forget_trap_change() { __atomic_store_n(&own_action_lock, 0u, __ATOMIC_RELEASE); }

namespace {

// A child of vfork has its parent's memory and handlers of its own.
bool is_ours(int signal) { return is_profiled() && signal == SIGTRAP && sys::getpid() == program.pid; }

struct sigaction change_trap(const struct sigaction* wanted) {
  const struct sigaction before = own_trap_action();
  if (wanted == nullptr) return before;
  set_own_trap_action(*wanted);
  if (wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN) degrade(*program.area, Degraded::kSharedTrap);
  return before;
}

sighandler_t change_trap(sighandler_t handler, int flags) {
  const struct sigaction wanted = action_of(handler, flags);
  return change_trap(&wanted).sa_handler;
}

int sigaction_for(int signal, const struct sigaction* action, struct sigaction* before) {
  if (is_ours(signal)) {
    const struct sigaction now = change_trap(action);
    if (before != nullptr) *before = now;
    return 0;
  }
  if (!is_profiled() || signal == SIGTRAP || action == nullptr) return real_sigaction(signal, action, before);
  // A sample in a handler is one of the handler; but the stack that a program gives its handlers may have no room for one.
  struct sigaction changed = *action;
  if ((action->sa_flags & SA_ONSTACK) != 0) sigaddset(&changed.sa_mask, SIGTRAP);
  else sigdelset(&changed.sa_mask, SIGTRAP);
  return real_sigaction(signal, &changed, before);
}

sighandler_t signal_for(int number, sighandler_t handler) {
  STAB_REAL(signal, sighandler_t (*)(int, sighandler_t));
  return is_ours(number) ? change_trap(handler, SA_RESTART) : real(number, handler);
}

// Once, and not blocked meanwhile: System V's.
sighandler_t sysv_signal_for(int number, sighandler_t handler) {
  STAB_REAL(__sysv_signal, sighandler_t (*)(int, sighandler_t));
  return is_ours(number) ? change_trap(handler, static_cast<int>(SA_RESETHAND | SA_NODEFER)) : real(number, handler);
}

}  // namespace
}  // namespace stab::causal

// All of libc's doors to a signal's action; the headers choose one by the standard that a program asks for.
STAB_INTERPOSED(int, sigaction, (int signal, const struct sigaction* action, struct sigaction* before)) {
  return stab::causal::sigaction_for(signal, action, before);
}
STAB_INTERPOSED(int, __sigaction, (int signal, const struct sigaction* action, struct sigaction* before)) {
  return stab::causal::sigaction_for(signal, action, before);
}
STAB_INTERPOSED(sighandler_t, signal, (int number, sighandler_t handler)) { return stab::causal::signal_for(number, handler); }
STAB_INTERPOSED(sighandler_t, bsd_signal, (int number, sighandler_t handler)) {
  return stab::causal::signal_for(number, handler);
}
STAB_INTERPOSED(sighandler_t, ssignal, (int number, sighandler_t handler)) {
  return stab::causal::signal_for(number, handler);
}
STAB_INTERPOSED(sighandler_t, sysv_signal, (int number, sighandler_t handler)) {
  return stab::causal::sysv_signal_for(number, handler);
}
STAB_INTERPOSED(sighandler_t, __sysv_signal, (int number, sighandler_t handler)) {
  return stab::causal::sysv_signal_for(number, handler);
}
STAB_INTERPOSED(int, sigignore, (int number)) {
  const struct sigaction ignored = stab::causal::action_of(SIG_IGN);
  return stab::causal::sigaction_for(number, &ignored, nullptr);
}
// SIG_HOLD would block it, which nobody may.
STAB_INTERPOSED(sighandler_t, sigset, (int number, sighandler_t handler)) {
  using namespace stab::causal;
  STAB_REAL(sigset, sighandler_t (*)(int, sighandler_t));
  if (!is_ours(number)) return real(number, handler);
  return handler == SIG_HOLD ? own_trap_action().sa_handler : change_trap(handler, 0);
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
