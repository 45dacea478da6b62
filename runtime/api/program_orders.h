// What the program tells its helper while it runs, and what it measures itself: a part of the control block.
//
// Two threads of two processes meet here without a lock. The helper sets `advancing` before it changes anything and
// then looks at `paused` and at the modules; the program changes those first and then waits while `advancing` is
// set. All of it is sequentially consistent, so one of the two sees the other.
#pragma once

#include <stdint.h>

namespace stab {

// In place of an address: an entry that is being written.
inline constexpr uint64_t kModuleTaken = 1;

// A shared library with pads. Its slots lie in private memory of the program; the helper writes them through
// /proc/PID/mem, so a library costs no mapping. A written slot may be seen half old and half new: every mixture is a
// valid pad.
struct ModulePads {
  uint64_t slots_address = 0;  // 0: this entry is free
  uint32_t slot_count = 0;
  int32_t pid = 0;             // who has it mapped: a forked child's libraries are its own
};
inline constexpr uint32_t kMaxModules = 128;

// Values of Orders::advancing, a futex word.
inline constexpr uint32_t kIdle = 0;
inline constexpr uint32_t kAdvancing = 1;
inline constexpr uint32_t kAdvancingAwaited = 2;  // someone sleeps until it is kIdle

struct Orders {
  uint32_t paused = 0;          // no new layout with time while it is not 0
  uint32_t advancing = kIdle;
  uint32_t layouts_wanted = 0;  // counts stab_new_layout
  uint32_t layouts_given = 0;   // futex word: the count that was wanted when the newest layout was begun
  uint32_t modules_wanted = 0;  // counts libraries that have come
  uint32_t modules_given = 0;   // futex word: the count when their pads were drawn last
  uint32_t modules_dropped = 0; // more than kMaxModules: these have no pads
  uint32_t module_slots = 0;    // sum over `modules`
  uint32_t home_wanted = 0;     // 1: calls are to run originals, from now on
  uint32_t home_given = 0;      // futex word: 1: they do
  uint32_t stacks_switch = 0;   // 1: a library has come that switches stacks
  uint64_t visits = 0;          // counts stab_visit
  ModulePads modules[kMaxModules];
};

// Sums over the regions of interest, for the dose report.
struct RegionDose {
  uint64_t regions = 0;
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;
  uint64_t layouts = 0;
};

}  // namespace stab
