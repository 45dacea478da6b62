// Preflight: one trial of every cell of every workload, held against its expected output, its dose and its counters.
#pragma once

#include "base/result.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/experiment/output_inquiry.h"
#include "stabd/engine/experiment/trial_runner.h"

namespace stab::engine {

// Runs what is left of it, and again what failed in an earlier run. False: a trial failed, and the experiment is rejected, or we
// were stopped.
Result<bool> run_preflight(LiveExperiment& experiment, TrialRunner& runner, OutputInquiry& inquiry);

}  // namespace stab::engine
