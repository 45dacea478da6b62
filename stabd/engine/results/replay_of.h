// A recorded trial's layout, run again beside fresh ones: the experiment that asks whether the layout is bad or its moment was.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "store/store.h"

namespace stab::engine {

struct ReplayPlan {
  plan::Plan plan;
  store::ExperimentRow of;  // whose trial it is: its directory, user and group are the replay's, too
};

// The plan that runs this trial's layout `times` times, and as many fresh ones. kBadInput where it can say nothing, with the
// reason: the trial has no result, or nothing draws layouts in its cell. What its binaries are is seen when it runs.
Result<ReplayPlan> replay_plan(store::Store& store, store::Id trial, int times);

// The experiment that a replay repeats a trial of. kNotFound: it is not here, or not of the same user.
Result<store::ExperimentRow> replayed_experiment(store::Store& store, const store::ExperimentRow& replay,
                                                 const plan::LayoutReplay& how);
// What that experiment's trials ran, for each build of the replay's plan, by its index.
// `first_words`: of the commands that the hashes are of, one for each.
Result<std::vector<store::BuildRow>> replayed_builds(store::Store& store, const store::ExperimentRow& of,
                                                     const plan::LayoutReplay& how, const plan::Plan& plan,
                                                     std::vector<std::string>& first_words);
// What of the machine decides what a layout costs, where it is another one than the trial's: "cpu.model: X then, Y now".
std::vector<std::string> machine_differences(store::Store& store, const store::ExperimentRow& of, const plan::LayoutReplay& how,
                                             const std::map<std::string, std::string>& now);

}  // namespace stab::engine
