// Moments: the snapshots that windows are differences of, and the orders that open and close windows.
//
// Used by the trap in the program and by the companion, whoever comes first; no locks, no allocation.
#pragma once

#include "runtime/causal/causal_abi.h"

namespace stab::causal {

// A sleep that should have ended at `due_ns` and has at `woke_ns`: in between the thread could run, and had no CPU. Both are 0
// where nobody knows.
struct Late {
  uint64_t due_ns = 0, woke_ns = 0;
  uint64_t ns() const { return woke_ns > due_ns ? woke_ns - due_ns : 0; }
};

// libc's monotonic clock, by the vDSO: each step of a pause looks at it, and so does a wait that is none, twice.
uint64_t now_ns();

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

// As take, for what later moments are held against. Time in which nobody can run is known to be the world's only when it ends
// (end_wait), so what went on until now is settled: it is of what was before.
void take_beginning(Area& area, int own_pid, uint32_t region, Snapshot& out);

// R4 on one CPU: a thread begins to wait, and comes back. The time in which nobody could run was a wait for the world if it was
// the world that woke the thread which ends it, by a time-out, too. Else that thread was woken by ours and waited for its CPU,
// or never gave it away: a call that computes in the kernel is CPU time already.
// Nor is the time in which it was late: then others than ours had its CPU.
void begin_wait(Area& area, Process& process);
void end_wait(Area& area, Process& process, bool world_woke_it, const Late& late = {});

// Threads of a process that come (+) and go (-).
void count_threads(Area& area, Process& process, int by);

}  // namespace stab::causal
