// Entering a forked child into the control block: in the child itself, between fork and its first line, or for it.
#pragma once

#include "runtime/control.h"
#include "runtime/sys.h"

namespace stab::code {

// Short-lived children may fill the table between two looks of the helper: those that are gone give way. Only when
// kMaxKin are there at the same time, zombies included, does it overflow.
inline void enter_kin(Control& block, int32_t pid) {
  for (int32_t& entry : block.kin) {
    int32_t empty = 0;
    if (__atomic_compare_exchange_n(&entry, &empty, pid, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return;
  }
  for (int32_t& entry : block.kin) {
    int32_t old = __atomic_load_n(&entry, __ATOMIC_RELAXED);
    if (old != 0 && sys::call(SYS_kill, old, 0) != -ESRCH) continue;
    if (__atomic_compare_exchange_n(&entry, &old, pid, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return;
  }
  __atomic_store_n(&block.kin_overflowed, 1u, __ATOMIC_SEQ_CST);
}

}  // namespace stab::code
