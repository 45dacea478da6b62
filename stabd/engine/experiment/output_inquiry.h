// OutputInquiry: of a trial with another output than expected, asks whether its layout is why.
#pragma once

#include <set>
#include <utility>

#include "base/result.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/experiment/trial_runner.h"

namespace stab::engine {

class OutputInquiry {
 public:
  // pre: both outlive this
  OutputInquiry(LiveExperiment& experiment, TrialRunner& runner) : experiment_(&experiment), runner_(&runner) {}
  // Adds what is found to the failure of `outcome`, which is not stored yet; nothing for a trial that passed.
  Status explain(const store::TrialRow& trial, store::Outcome& outcome);

 private:
  LiveExperiment* experiment_;
  TrialRunner* runner_;
  std::set<std::pair<int, int>> explained_;  // subjects and cells: each is asked about once
};

}  // namespace stab::engine
