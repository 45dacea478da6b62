// What the sliced blocks of an experiment need of the machine, and what its preflight says of them.
#pragma once

#include "base/result.h"
#include "stabd/engine/experiment/held_machine.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/experiment/trial_runner.h"

namespace stab::engine {

// Before the first block of a sliced plan: an enclosure for each trial of a block, and time slices as long as the plan says, or
// as the trials of the preflight suggest, for which the log has the reason. Says of programs that sleep or use several CPUs that
// CPU time isn't what they cost. kUnavailable: the machine has no memory for a whole block. Does nothing for other plans.
Status prepare_slicing(LiveExperiment& experiment, HeldMachine& machine, TrialRunner& runner);

}  // namespace stab::engine
