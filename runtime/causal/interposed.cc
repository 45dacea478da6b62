// The calls of calls.inc, and locks of files. Where nothing is profiled each passes its call on.
//
// Signals are in own_signals.cc, descriptors in own_descriptors.cc, threads in begun_threads.cc, what makes processes in
// children.cc, what executes a program in executed.cc, and system calls by number in numbered_calls.cc.
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <unistd.h>

#include <string_view>

#include "runtime/causal/attach.h"
#include "runtime/causal/interposed.h"
#include "runtime/causal/last_writer.h"
#include "runtime/causal/readiness.h"
#include "runtime/causal/real.h"

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

// How long a call of libc's is asked to sleep; 0: nobody knows, or it is no time.
struct Asked {
  static uint64_t ns_of(const timespec* time) {
    if (time == nullptr || time->tv_sec < 0) return 0;
    return static_cast<uint64_t>(time->tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time->tv_nsec);
  }
  uint64_t nanosleep(const timespec* time, timespec*) const { return ns_of(time); }
  uint64_t thrd_sleep(const timespec* time, timespec*) const { return ns_of(time); }
  uint64_t usleep(useconds_t time) const { return uint64_t{time} * 1'000u; }
  uint64_t sleep(unsigned seconds) const { return uint64_t{seconds} * 1'000'000'000u; }
  uint64_t clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec*) const {
    if ((flags & TIMER_ABSTIME) == 0) return ns_of(time);
    timespec now{};
    if (clock_gettime(clock, &now) != 0) return 0;
    const uint64_t until_ns = ns_of(time), now_ns = ns_of(&now);
    return until_ns > now_ns ? until_ns - now_ns : 0;
  }
};

// A read or write that goes on, as the thread knows it: a handler may jump out of it, or begin another.
struct Noted {
  explicit Noted(LastWrite* one) : begun(one), outer(self.noted) { self.noted = one; }
  void end() const {
    end_noted(begun);
    self.noted = outer;
  }
  LastWrite* begun;
  LastWrite* outer;
};

// Whether a stream has what it is asked for, so that libc needs not read. A look without its lock: at worst a call that reads
// counts as one that computes, or the other way round.
struct ReadAhead {
  FILE* file = stdin;

  bool has(size_t bytes) const { return static_cast<size_t>(file->_IO_read_end - file->_IO_read_ptr) >= bytes; }
  bool has_line(int end, size_t most, FILE* of) {
    file = of;
    const size_t there = has(1) ? static_cast<size_t>(file->_IO_read_end - file->_IO_read_ptr) : 0;
    return there >= most || (there != 0 && memchr(file->_IO_read_ptr, end, there) != nullptr);
  }
  bool has_bytes(size_t bytes, FILE* of) {
    file = of;
    return has(bytes);
  }

  bool fgets(char*, int bytes, FILE* of) { return has_line('\n', bytes > 0 ? static_cast<size_t>(bytes - 1) : 0, of); }
  bool fgets_unlocked(char* to, int bytes, FILE* of) { return fgets(to, bytes, of); }
  bool __fgets_chk(char* to, size_t, int bytes, FILE* of) { return fgets(to, bytes, of); }
  bool fread(void*, size_t bytes, size_t count, FILE* of) { return has_bytes(bytes * count, of); }
  bool fread_unlocked(void* to, size_t bytes, size_t count, FILE* of) { return fread(to, bytes, count, of); }
  bool __fread_chk(void* to, size_t, size_t bytes, size_t count, FILE* of) { return fread(to, bytes, count, of); }
  bool getline(char**, size_t*, FILE* of) { return has_line('\n', SIZE_MAX, of); }
  bool getdelim(char**, size_t*, int end, FILE* of) { return has_line(end, SIZE_MAX, of); }
  bool __getdelim(char**, size_t*, int end, FILE* of) { return has_line(end, SIZE_MAX, of); }
  bool fgetc(FILE* of) { return has_bytes(1, of); }
  bool getc(FILE* of) { return has_bytes(1, of); }
  bool _IO_getc(FILE* of) { return has_bytes(1, of); }
  bool getchar() { return has(1); }
  bool fgetc_unlocked(FILE* of) { return has_bytes(1, of); }
  bool getc_unlocked(FILE* of) { return has_bytes(1, of); }
  bool getchar_unlocked() { return has(1); }
  bool __uflow(FILE* of) { return has_bytes(1, of); }
};

// What a call that waits for signals finds before it waits: a SIGTRAP that the thread has kept (own_signals.cc).
struct KeptSignal {
  int& result;

  bool sigwait(const sigset_t* set, int* signal) const {
    if (!take_kept_trap(set, nullptr)) return false;
    *signal = SIGTRAP;
    result = 0;
    return true;
  }
  bool sigwaitinfo(const sigset_t* set, siginfo_t* info) const {
    if (!take_kept_trap(set, info)) return false;
    result = SIGTRAP;
    return true;
  }
  bool sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec*) const { return sigwaitinfo(set, info); }
  bool sigsuspend(const sigset_t*) const { return false; }
  bool sigpause(int) const { return false; }
  bool __xpg_sigpause(int) const { return false; }
  bool pause() const { return false; }
};

// The child that a call of the wait family tells of, 0: none.
struct EndedChild {
  long result;
  template <typename... Arguments>
  int operator()(Arguments...) const {
    return static_cast<int>(result);
  }
  int operator()(idtype_t, id_t, siginfo_t* info, int) const { return result == 0 && info != nullptr ? info->si_pid : 0; }
};

}  // namespace
}  // namespace stab::causal

// Those that are defined by hand below.
#define STAB_BY_HAND(ONE) ONE(epoll_ctl) ONE(fcntl) ONE(fcntl64) ONE(flockfile) ONE(ftrylockfile)
#define STAB_CALL(CLASS, RESULT, NAME, PARAMETERS, ARGUMENTS) STAB_KEPT(NAME)
#define STAB_TRY(NAME, TRY, PARAMETERS) static stab::causal::RealName stab_real_try_##NAME = {nullptr, #TRY};
#include "runtime/causal/calls.inc"
STAB_BY_HAND(STAB_KEPT)
#undef STAB_CALL
#undef STAB_TRY
namespace stab::causal {
void find_all_real() {
#define STAB_CALL(CLASS, RESULT, NAME, PARAMETERS, ARGUMENTS) STAB_FIND(NAME)
#define STAB_TRY(NAME, TRY, PARAMETERS) STAB_FIND(try_##NAME)
#include "runtime/causal/calls.inc"
  STAB_BY_HAND(STAB_FIND)
#undef STAB_CALL
#undef STAB_TRY
  find_real_signals();
  find_real_descriptors();
  find_real_children();
  find_real_threads();
  find_real_executed();
  find_real_numbered();
  dlerror();  // of a name that this libc hasn't
}
}  // namespace stab::causal

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

#define STAB_BODY_SIGNALS(RESULT, NAME, ARGUMENTS) \
  pay_first();                                     \
  if (is_profiled()) note_signal();                \
  return real ARGUMENTS;

#define STAB_BODY_FAST_OURS(RESULT, NAME, ARGUMENTS)             \
  if (!is_profiled()) return real ARGUMENTS;                     \
  if (const int tried = stab_try_##NAME(lock); tried != kBusy(tried)) return tried; \
  STAB_BODY_OURS(RESULT, NAME, ARGUMENTS)

#define STAB_BODY_WORLD(RESULT, NAME, ARGUMENTS)                 \
  if (!is_profiled()) return real ARGUMENTS;                     \
  Accounting accounting(kForWorld);                              \
  const RESULT result = real ARGUMENTS;                          \
  accounting.end(kForWorld, kScriptBlockedIo, __builtin_return_address(0)); \
  return result;
#define STAB_BODY_SLEEPS(RESULT, NAME, ARGUMENTS)                \
  if (!is_profiled()) return real ARGUMENTS;                     \
  Accounting accounting(kForWorld);                              \
  accounting.wait.asked_ns = Asked{}.NAME ARGUMENTS;             \
  const RESULT result = real ARGUMENTS;                          \
  accounting.end(kForWorld, kScriptBlockedSleep, __builtin_return_address(0)); \
  return result;

#define STAB_BODY_SIGNALLED(RESULT, NAME, ARGUMENTS)                                                        \
  if (!is_profiled()) return real ARGUMENTS;                                                                \
  if (RESULT kept = 0; KeptSignal{kept}.NAME ARGUMENTS) return kept;                                        \
  Accounting accounting(kForWorld);                                                                         \
  const RESULT result = real ARGUMENTS;                                                                     \
  const bool by_ours =                                                                                      \
      class_matters() && !timed_out(#NAME, result) && last_signal_is_ours(accounting.wait.since_ns);        \
  accounting.end(by_ours ? kForOurs : kForWorld, by_ours ? kScriptBlockedLock : kScriptBlockedSleep,        \
                 __builtin_return_address(0));                                                              \
  return result;

#define STAB_BODY_CHILD(RESULT, NAME, ARGUMENTS)                                                            \
  if (!is_profiled()) return real ARGUMENTS;                                                                \
  Accounting accounting(kForWorld);                                                                         \
  const RESULT result = real ARGUMENTS;                                                                     \
  const bool by_ours = class_matters() && is_of_family(EndedChild{result} ARGUMENTS);                       \
  accounting.end(by_ours ? kForOurs : kForWorld, kScriptBlockedIo, __builtin_return_address(0));            \
  return result;

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
  const Noted noted(begin_reading(fd));                                        \
  const auto result = real ARGUMENTS; /* of type RESULT, which may be a pointer */ \
  noted.end();                                                                 \
  accounting.end(class_matters() && last_writer_is_ours(fd, accounting.wait.since_ns) ? kForOurs : kForWorld, kScriptBlockedIo, \
                 __builtin_return_address(0));                                 \
  return result;

#define STAB_BODY_STREAM(RESULT, NAME, ARGUMENTS)                              \
  ReadAhead ahead;                                                             \
  if (is_profiled() && ahead.NAME ARGUMENTS) return real ARGUMENTS;            \
  [[maybe_unused]] const int fd = ahead.file->_fileno;                         \
  STAB_BODY_READS(RESULT, NAME, ARGUMENTS)

#define STAB_BODY_WRITES(RESULT, NAME, ARGUMENTS)                              \
  if (!is_profiled()) return real ARGUMENTS;                                   \
  Accounting accounting(kForWorld);                                            \
  accounting.wait.may_bring_task = false;                                      \
  const Noted noted(begin_writing(fd));                                        \
  const RESULT result = real ARGUMENTS;                                        \
  noted.end();                                                                 \
  accounting.end(class_matters() && last_reader_is_ours(fd, accounting.wait.since_ns) ? kForOurs : kForWorld, kScriptBlockedIo, \
                 __builtin_return_address(0));                                 \
  return result;

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
// Locks of files, of which fcntl has some, and of streams.
namespace stab::causal {
namespace {

template <typename Call>
int lock_file(Call real, int fd, int command, void* argument, const void* caller) {
  if (!is_profiled() || (command != F_SETLKW && command != F_OFD_SETLKW)) return real(fd, command, argument);
  Accounting accounting(kForWorld);
  const int result = real(fd, command, argument);
  accounting.end(kForWorld, kScriptBlockedIo, caller);
  return result;
}

}  // namespace
}  // namespace stab::causal

#define STAB_FCNTL(NAME)                                                                    \
  STAB_INTERPOSED(int, NAME, (int fd, int command, ...)) {                                  \
    STAB_REAL(NAME, int (*)(int, int, ...));                                                \
    va_list list;                                                                           \
    va_start(list, command);                                                                \
    void* const argument = va_arg(list, void*);                                             \
    va_end(list);                                                                           \
    return stab::causal::lock_file(real, fd, command, argument, __builtin_return_address(0)); \
  }
STAB_FCNTL(fcntl)
STAB_FCNTL(fcntl64)

STAB_INTERPOSED(void, flockfile, (FILE * file)) {
  using namespace stab::causal;
  using Try = int (*)(FILE*);
  STAB_REAL(flockfile, void (*)(FILE*));
  if (!is_profiled()) return real(file);
  if (reinterpret_cast<Try>(real_of(stab_real_ftrylockfile))(file) == 0) return;
  Accounting accounting(kForOurs);
  real(file);
  accounting.end(kForOurs, kScriptBlockedLock, __builtin_return_address(0));
}
