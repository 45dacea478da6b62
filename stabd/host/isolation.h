// Isolation: keeps everybody else off the trial's CPU, by cpuset groups.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/host/knobs.h"
#include "stabd/host/roots.h"
#include "stabd/host/placement.h"

namespace stab::host {

struct Isolation {
  std::vector<KnobWrite> writes;
  // Cgroup v2: the group that trials' own groups are made in. Cgroup v1: empty.
  std::string parent_of_trials;
  // Cgroup v1: the file that a trial's first process writes "0" to. Cgroup v2: empty.
  std::string procs_file;
};

// What has to be done on this machine so that only trials run on the placement's CPU, below the cgroup that we are in.
// kUnavailable where there is no cpuset controller to be had, or no second CPU for the others.
Result<Isolation> isolation_of(const Roots& roots, const Placement& placement);

}  // namespace stab::host
