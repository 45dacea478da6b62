// Lock: a futex mutex that needs no initialization, for the few places where heaps meet. Its holder never calls out of
// this folder, but a signal may interrupt it, and POSIX lets a handler fork: so each thread counts what it holds, and
// a fork hook takes no lock in a thread that may hold one already (threads.cc).
#pragma once

#include <stdint.h>

#include <atomic>

#include "runtime/sys.h"

namespace stab::heap {

// Locks that this thread holds, is about to take or has just given back: never too few in a signal handler.
extern __attribute__((visibility("hidden"))) __thread uint32_t locks_held __attribute__((tls_model("initial-exec")));

// From the end of our fork hook before to the one after this thread holds all locks, and nothing is in the middle of a
// change. Hooks of libraries that were registered before ours run then, and may allocate: they need no lock.
extern __attribute__((visibility("hidden"))) __thread bool forks_with_all_locks __attribute__((tls_model("initial-exec")));

class Lock {
 public:
  void take() {
    if (forks_with_all_locks) return;
    ++locks_held;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    uint32_t expected = 0;
    if (state_.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return;
    // 2: held, and somebody may be asleep.
    while (state_.exchange(2, std::memory_order_acquire) != 0)
      sys::call(SYS_futex, sys::word(&state_), FUTEX_WAIT_PRIVATE, 2);
  }
  void give() {
    if (forks_with_all_locks) return;
    if (state_.exchange(0, std::memory_order_release) == 2)
      sys::call(SYS_futex, sys::word(&state_), FUTEX_WAKE_PRIVATE, 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --locks_held;
  }
  // In a forked child, whose only thread may take it now; sleepers stayed behind. Does not count: a thread that forked
  // in a signal handler goes on in the child where it was, and its give() finds the lock free, which does no harm.
  void reset() { state_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> state_{0};
};

class Locked {
 public:
  explicit Locked(Lock& lock) : lock_(lock) { lock_.take(); }
  ~Locked() { lock_.give(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace stab::heap
