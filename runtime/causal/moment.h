// Moments: the snapshots that windows are differences of, and the orders that open and close windows.
//
// Used by the trap in the program and by the companion, whoever comes first; no locks, no allocation.
#pragma once

#include "runtime/causal/causal_abi.h"

namespace stab::causal {

// CPU time of every process of the area so far. `own_pid`'s is read exactly, that of others to the kernel's tick.
uint64_t cpu_of_family(Area& area, int own_pid);

// Those that effective time on several CPUs and under a load is made of: no system call, and nothing else of `out` is written.
void take_wall_times(const Area& area, Snapshot& out);

// The times alone; nothing else of `out` is written.
void take_times(Area& area, int own_pid, Snapshot& out);

// Everything that a window is a difference of, with `region`'s share.
void take(Area& area, int own_pid, uint32_t region, Snapshot& out);

// The order that waits to be carried out, 0: none. A look at two words.
uint64_t waiting_order(const Area& area);

// Carries out an order if nobody else has begun to. False: somebody has.
bool carry_out(Area& area, uint64_t order, int own_pid);

// R4 on one CPU: a thread begins to wait, for the world or for ours, and comes back.
void begin_wait(Area& area, Process& process, bool for_world);
void end_wait(Area& area, Process& process, bool for_world);

// Threads of a process that come (+) and go (-).
void count_threads(Area& area, Process& process, int by);

}  // namespace stab::causal
