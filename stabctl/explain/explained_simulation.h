// What a simulator is asked about the two sides of `stabctl explain`: whether it can be, and what its trials say.
#pragma once

#include "analysis/commands/explain/explain.h"
#include "base/result.h"
#include "stabctl/explain/explain_plan.h"
#include "store/store.h"

namespace stab::ctl {

// Whether trials of these sides can be simulated here, before any time goes by. kBadInput: their plan has what a simulated trial
// can't have; kUnavailable: the simulator is not installed, or the machine doesn't say what its caches are; with what to do.
Status may_be_simulated(const ExplainedBuilds& builds);

// What the trials of a simulated_plan() say so far, by intervals that err with this probability each. kBadInput: fewer than three
// layouts. pre: 0 < nominal < 1
Result<commands::SimulatedFacts> simulated_facts(store::Store& store, const store::ExperimentRow& row,
                                                 const statistics::CauseSettings& settings, double nominal);

}  // namespace stab::ctl
