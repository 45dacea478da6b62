// How a function of libc's is defined here under its own name, and how the real one is found.
//
// Each is defined by an asm label, so that its type needs no agreement with libc's headers about what is noexcept. A file that
// defines some keeps a RealName for each (STAB_KEPT), looks it up in the function (STAB_REAL), and finds all of them before main.
#pragma once

#include <errno.h>
#include <stdint.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/real.h"

#define STAB_INTERPOSED(RESULT, NAME, PARAMETERS)                                                        \
  extern "C" __attribute__((visibility("default"))) RESULT stab_causal_##NAME PARAMETERS __asm__(#NAME); \
  RESULT stab_causal_##NAME PARAMETERS

#define STAB_KEPT(NAME) static stab::causal::RealName stab_real_##NAME = {nullptr, #NAME};
#define STAB_FIND(NAME) stab::causal::real_of(stab_real_##NAME);
#define STAB_REAL(NAME, ...) \
  using Real = __VA_ARGS__;  \
  const Real real = reinterpret_cast<Real>(stab::causal::real_of(stab_real_##NAME))

namespace stab::causal {

// All are looked up before main: dlsym forgets what the program's dlerror() would say, and waits for a dlopen whose constructor
// may wait for the thread that calls. What calls before that looks for itself; two threads that look at once find the same.
struct RealName {
  void* found;
  const char* name;
};
inline void* real_of(RealName& one) {
  if (__builtin_expect(one.found == nullptr, 0)) one.found = find_real(one.name);
  return one.found;
}

// Each file's own, called by find_all_real (interposed.cc).
void find_real_signals();
void find_real_descriptors();
void find_real_children();
void find_real_threads();
void find_real_executed();
void find_real_numbered();

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

inline void pay_first() {
  if (!is_profiled() || !must_pay()) return;
  const int saved_errno = errno;
  pay();
  errno = saved_errno;
}

}  // namespace stab::causal
