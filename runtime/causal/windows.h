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

// Latency of points that have a begin and an end, by Little's law: the integral of how many are inside over effective time.
class Insides {
 public:
  void begin(const Area& area, const Snapshot& at);
  // `effective_ns` since begin.
  void add(const Area& area, const Snapshot& at, uint64_t effective_ns);
  void write(uint64_t (&inside_ns)[kPointSlots]) const;
  // Whether any point is an end, so that it is worth looking often.
  static bool any(const Area& area);

 private:
  uint64_t last_effective_ns_ = 0;
  uint64_t inside_[kPointSlots] = {};
  uint64_t sum_ns_[kPointSlots] = {};
};

// How many are inside at an end point: visits of the begins of its name less those of the ends, 0 where it came out below.
uint64_t inside_of(const Area& area, uint32_t end_point, const uint64_t (&visits)[kPointSlots]);

// The window's own clock: what its length is measured by. On one CPU it is what the program had, so that a loaded machine makes
// windows longer and not emptier.
uint64_t length_ns(Pauses pauses, const Snapshot& from, const Snapshot& to);

// The visits of the busiest point between two moments.
uint64_t busiest(const Snapshot& from, const Snapshot& to);

// Fills a record from its two moments. Number, flags, foreign_ns and inside_ns are the caller's.
void write_record(const Area& area, uint32_t arm, const Snapshot& from, const Snapshot& to, WindowRecord& out);

// Names and kinds of the points so far.
void write_points(Area& area);

}  // namespace stab::causal
