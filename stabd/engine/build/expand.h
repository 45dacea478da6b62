// Expand: a plan turned into the rows that the store keeps of it, before anything runs.
#pragma once

#include <vector>

#include "base/result.h"
#include "plan/design.h"
#include "plan/toml/diagnostic.h"
#include "plan/plan.h"
#include "plan/schedule.h"
#include "store/store.h"

namespace stab::engine {

// A plan with everything derived from it that the engine needs again and again.
struct ExpandedPlan {
  plan::Plan plan;
  plan::Design design;
  std::vector<plan::Subject> subjects;
  plan::BuildSet builds;

  const plan::Program& program_of(int subject) const;
  const plan::Workload& workload_of(int subject) const;
};

Result<ExpandedPlan> expand(plan::Plan plan);
// From what the store keeps of a submitted plan. kCorrupt where it no longer parses.
Result<ExpandedPlan> expand_stored(const store::ExperimentRow& row);

// Names of counters that nobody knows, at their places in the plan.
std::vector<toml::Diagnostic> event_faults(const plan::Plan& plan);

// Without trials, and without the schedule's fingerprint (stabd/engine/experiment/planning.h).
store::Store::Expansion rows_of(const ExpandedPlan& expanded);
std::vector<store::NewTrial> rows_of(const ExpandedPlan& expanded, const plan::Schedule& schedule);

}  // namespace stab::engine
