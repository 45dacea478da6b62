// The program's half of orders.h: asking the helper, and waiting until it changes nothing.
#pragma once

#include "runtime/control.h"
#include "runtime/sys.h"

namespace stab::api {

// A helper that is alive answers within a millisecond; one that is starved by other load within this.
inline constexpr uint64_t kPatienceNs = 2'000'000'000;
// How often whoever waits looks whether it is alive.
inline constexpr uint64_t kLookNs = 10'000'000;

// The number of this process, without a system call but for the first time and after a fork.
int own_pid();

// The helper is there and this process is the one it serves, not a forked child of it.
bool has_helper();

// Wakes the helper to look at Control::orders. False: it has no ear for orders any more.
inline bool send_orders() {
  uint32_t request = kRequestNone;
  const bool sent = __atomic_compare_exchange_n(&control().request, &request, kRequestOrders, false,
                                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (!sent && request != kRequestOrders) return false;  // it is reporting, or dead
  sys::futex_wake(&control().request);
  return true;
}

// Sleeps until `done(*word)`, woken by changes of *word. False: the helper didn't answer, or is dead. Looks are counted, as a
// program's own filter of system calls may know no clock.
template <typename Done>
bool wait_for(const uint32_t& word, Done done, uint64_t patience_ns = kPatienceNs) {
  for (uint64_t waited_ns = 0;;) {
    // Before the word is read: what it did before it died is seen.
    const bool dead = is_helper_dead();
    const uint32_t value = __atomic_load_n(&word, __ATOMIC_SEQ_CST);
    if (done(value)) return true;
    if (dead || waited_ns >= patience_ns) return false;
    // A signal's handler, or another's change, ends it early.
    waited_ns += sys::futex_wait_for(&word, value, kLookNs) == -ETIMEDOUT ? kLookNs : kLookNs / 100;
  }
}

// The same for a run that is to be a function of its seed: it executes the same instructions whether the helper was quick or
// slow, and waits as long as that lives. `before` is what the word holds until something has been done.
template <typename Done>
bool wait_evenly_for(const uint32_t& word, uint32_t before, Done done) {
  constexpr uint64_t kEvenLookNs = 10'000'000'000;
  for (;;) {
    sys::futex_wait_for(&word, before, kEvenLookNs);
    const bool dead = is_helper_dead();
    if (done(__atomic_load_n(&word, __ATOMIC_SEQ_CST))) return true;
    if (dead) return false;
  }
}

// Sleeps until the helper has obeyed the order of this number. Counts wrap; `given` runs behind `wanted`.
inline bool wait_for_count(const uint32_t& given, uint32_t wanted) {
  return wait_for(given, [wanted](uint32_t value) { return static_cast<int32_t>(value - wanted) >= 0; });
}

// Returns when no change of the layout that began before is still under way.
inline bool wait_until_idle() {
  uint32_t advancing = kAdvancing;
  __atomic_compare_exchange_n(&control().orders.advancing, &advancing, kAdvancingAwaited, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  // A later advance may find it idle in between and set it again: that is not the one waited for.
  if (advancing == kIdle) return true;
  return wait_for(control().orders.advancing, [](uint32_t value) { return value != kAdvancingAwaited; });
}

}  // namespace stab::api
