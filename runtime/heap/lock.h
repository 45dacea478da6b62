// Lock: a futex mutex that needs no initialization, for the few places where heaps meet. Its holder never
// calls out of this folder, so a fork handler may take it at any moment.
#pragma once

#include <stdint.h>

#include <atomic>

#include "runtime/sys.h"

namespace stab::heap {

class Lock {
 public:
  void take() {
    uint32_t expected = 0;
    if (state_.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return;
    // 2: held, and somebody may be asleep.
    while (state_.exchange(2, std::memory_order_acquire) != 0)
      sys::call(SYS_futex, sys::word(&state_), FUTEX_WAIT_PRIVATE, 2);
  }
  void give() {
    if (state_.exchange(0, std::memory_order_release) == 2)
      sys::call(SYS_futex, sys::word(&state_), FUTEX_WAKE_PRIVATE, 1);
  }
  // In a forked child: its only thread held the lock, sleepers stayed behind.
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
