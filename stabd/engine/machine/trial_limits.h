// TrialLimits: what a trial may use, by the lab and the plan.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "plan/plan.h"
#include "stabd/host/roots.h"
#include "stabd/host/tree_bounds.h"

namespace stab::engine {

// The most that any trial of the lab may use; builds and what is run around trials, too.
struct LabLimits {
  host::TreeLimits most;
  bool is_named = false;  // in a configuration; else the defaults
  std::chrono::nanoseconds timeout{0};  // the longest that a plan may give a trial or a build; 0: any
};
// Nine tenths of the machine's memory, and 4096 processes.
host::TreeLimits default_limits(const host::Roots& roots);
inline constexpr int kDefaultProcesses = 4096;

// kBadInput, with both numbers, where the plan wants more.
Status check_within(const plan::Limits& wanted, const host::TreeLimits& most);
// The same of the time that a plan gives a trial, or a build.
Status check_timeouts(const plan::Plan& plan, std::chrono::nanoseconds longest);

struct TrialLimits {
  host::TreeLimits trials;    // as they are set for a trial; 0: there is none
  host::TreeLimits commands;  // for builds and what is run around trials
  plan::Limits plans;   // what the plan itself says
  std::string no_memory, no_processes;  // why one that the lab or the plan wants can't be set; empty: it is
};
// Never more than `most`. why_no_memory, why_no_processes: why a tree can't be limited so; empty: it can.
TrialLimits settle_limits(const plan::Limits& wanted, const host::TreeLimits& most, const std::string& why_no_memory,
                          const std::string& why_no_processes);

// --- words ---------------------------------------------------------------------------------------------------

// Why the plan can't be run where its own limits can't be set; empty: they can.
std::string why_not_limited(const TrialLimits& limits);
// For the record: "1073741824 bytes (1 GiB), as the plan wants", "not set: ...", "none".
std::string memory_limit_text(const TrialLimits& limits);
std::string process_limit_text(const TrialLimits& limits);

// Of a tree that came to the end of its memory: what it may use and where that is raised.
std::string memory_kill_text(const TrialLimits& limits);
// The same for a kill because the machine's memory ran out, which is none of the trial's doing.
std::string outside_kill_text();
// Of processes that it was refused; empty: none was.
std::string refused_processes_text(const host::LimitHits& hits, const TrialLimits& limits);

}  // namespace stab::engine
