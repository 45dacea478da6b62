// What the companion decides and writes down: which arm is next, when a window is over, its record. Pure but for the area.
#pragma once

#include "runtime/causal/causal_abi.h"

namespace stab::causal {

// Regions that run at the moment: when each had its newest sample, in the family's CPU time.
class RunningRegions {
 public:
  // pre: called with the CPU time of the family, which only grows.
  void look_at(const Area& area, uint64_t cpu_ns);
  // Whether `region` had a sample within the last `look_ns` of CPU time. A run that is younger than that has not shown yet
  // what runs in it: everything may.
  bool is_running(uint32_t region, uint64_t cpu_ns, uint64_t look_ns) const;

 private:
  uint64_t samples_[kMaxRegions] = {};
  uint64_t newest_cpu_ns_[kMaxRegions] = {};
  uint64_t begun_cpu_ns_ = 0;
  bool has_begun_ = false;
};

// The window's own clock: what its length is measured by. On one CPU it is what the program had, so that a loaded machine makes
// windows longer and not emptier.
//
// A null window's pauses are not of its length. Else it ends in one as often as they take of it, and a pause is in the line
// always, before the point that comes after it: a fifth of a round too few in each window.
uint64_t length_ns(ArmKind kind, Pauses pauses, const Snapshot& from, const Snapshot& to);

// How long a window of this arm shall be, by that clock. A null window is as much shorter as its pauses are expected to take, by
// the part that `region_ns` of its line have been of the run so far, so that it takes the program about as long as others.
uint64_t wanted_ns(const Script& script, ArmKind kind, uint32_t speedup_permille, uint64_t region_ns, uint64_t run_ns);

// The visits of the busiest point between two moments.
uint64_t busiest(const Snapshot& from, const Snapshot& to);

// Fills a record from its two moments. Number, flags and foreign_ns are the caller's.
void write_record(const Area& area, uint32_t arm, const Snapshot& from, const Snapshot& to, WindowRecord& out);

// Names and kinds of the points so far.
void write_points(Area& area);

}  // namespace stab::causal
