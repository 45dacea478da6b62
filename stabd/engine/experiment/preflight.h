// Preflight: one trial of every cell of every workload, held against its expected output, its dose and its counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/experiment/output_inquiry.h"
#include "stabd/engine/experiment/trial_runner.h"

namespace stab::engine {

// Runs what is left of it, and again what failed in an earlier run. False: a trial failed, and the experiment is rejected, or we
// were stopped.
Result<bool> run_preflight(LiveExperiment& experiment, TrialRunner& runner, OutputInquiry& inquiry);

// Of one trial of it that passed.
struct PreflightTrial {
  store::TrialRow trial;
  std::chrono::nanoseconds cpu{0}, wall{0};
  std::chrono::nanoseconds delay{0};  // of its wall time: it could have run, and others had the CPU
  int64_t max_rss_kib = 0;
  bool waited = true;  // for something that is not the trial's own
};
// Whether a program that ran alone gave its CPU up no more often than a trial makes each one.
bool waited_for_nothing(const store::Outcome& outcome);

// The last attempt of each place that passed. A run that goes on after a crash finds the same ones.
Result<std::vector<PreflightTrial>> passed_preflight(LiveExperiment& experiment);

// Of a plan that leaves its epochs to the preflight, for which the log has the reason. Does nothing for other plans.
Status choose_epoch(LiveExperiment& experiment);

}  // namespace stab::engine
