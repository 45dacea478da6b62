// Topology: which CPU the trial gets, which one everything else of ours, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/host/placement.h"

namespace stab::engine {

// A processing unit as the kernel numbers it.
struct ProcessingUnit {
  int cpu = 0;   // kernel's number
  int core = 0;  // logical index of the core it belongs to
  int numa = 0;  // logical index of the NUMA node
  int package = 0;
};

// Units, ascending by cpu.
class Topology {
 public:
  // Those that this process might use when it was started: its cpuset's, and of these the ones of its affinity (taskset).
  static Result<Topology> discover();
  // For tests: from hwloc's synthetic description, such as "core:2 pu:2".
  static Result<Topology> synthetic(const std::string& description);
  explicit Topology(std::vector<ProcessingUnit> units) : units_(std::move(units)) {}
  const std::vector<ProcessingUnit>& units() const { return units_; }

 private:
  std::vector<ProcessingUnit> units_;
};

// `cpus` and `housekeeping` in the plan's terms: "auto", "none", "2-3", "pu:2", "core:1", "numa:0",
// "package:0". The trial
// is pinned to one unit, the last of the named set. auto: the last core that isn't the housekeeper's, first
// unit; CPU 0 takes most interrupts, so housekeeping is there. kBadInput where nothing fits the words,
// kUnavailable where the machine has no such unit.
Result<host::Placement> place(const Topology& topology, const std::string& cpus, const std::string& housekeeping);

}  // namespace stab::engine
