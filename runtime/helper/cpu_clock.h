// The CPU time of another process, its threads that have ended included. The kernel lets anybody read it.
#pragma once

#include <stdint.h>
#include <time.h>

#include "runtime/sys.h"

namespace stab::helper {

// As clock_getcpuclockid makes it.
inline long cpu_clock_of(int pid) { return static_cast<long>(static_cast<int>(~static_cast<unsigned>(pid) << 3 | 2)); }

inline bool read_cpu_clock(long clock, uint64_t& ns) {
  timespec now{};
  if (sys::call(SYS_clock_gettime, clock, sys::word(&now)) != 0) return false;
  ns = sys::ns_of(now);
  return true;
}

}  // namespace stab::helper
