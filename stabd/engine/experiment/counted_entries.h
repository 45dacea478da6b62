// What counts the work of a program that has no progress point: calls of one of its functions, chosen before the trials of a map.
#pragma once

#include "base/result.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/experiment/trial_runner.h"

namespace stab::engine {

// For each build in each workload of a plan that asks for a map, or confirms one, and whose preflight has visited no point: a
// pilot counts the calls of the hottest functions, and from here on trials count the one whose calls take the steadiest CPU time.
// What was found, or why none was, is said and logged. pre: the preflight has passed
Status choose_counted_entries(LiveExperiment& experiment, TrialRunner& runner);

}  // namespace stab::engine
