// TrialSequence: the main trials of one experiment in the order of its schedule, from the first that is left to the last. What
// runs at once is claimed, run, stored and repeated as a whole: a trial by itself, or all of a sliced block.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "stabd/engine/experiment/held_machine.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/experiment/output_inquiry.h"
#include "stabd/engine/experiment/trial_runner.h"

namespace stab::engine {

class TrialSequence {
 public:
  // pre: all outlive this
  TrialSequence(LiveExperiment& experiment, const HeldMachine& machine, TrialRunner& runner, OutputInquiry& inquiry)
      : experiment_(&experiment), machine_(&machine), runner_(&runner), inquiry_(&inquiry) {}

  // False: stopped before its end, or a gate stayed closed until its deadline.
  Result<bool> to_its_end();

 private:
  Status count_places();
  using AtOnce = std::vector<store::TrialRow>;
  Result<AtOnce> claim_next();  // empty: all done, stopped, or gave up waiting
  // What runs at once with the next trial of the schedule, itself included.
  Result<AtOnce> company_of(const store::TrialRow& next);
  // Obeys the plan's stopping rule if this trial is the first behind one of its points; true: some trials are
  // not needed any more.
  Result<bool> decide_before(const store::TrialRow& next);
  Result<AtOnce> store_and_claim(const AtOnce& trials, const std::vector<store::Outcome>& outcomes);

  LiveExperiment* experiment_;
  const HeldMachine* machine_;
  TrialRunner* runner_;
  OutputInquiry* inquiry_;
  bool gave_up_ = false;            // waiting for a gate: whoever resumes it waits again
  int64_t done_ = 0, planned_ = 0;  // places of the schedule: that will not run any more, and all
};

// Trials that a stopping rule has left out; a cancelled experiment never comes so far.
int64_t not_needed(const store::Progress& progress);

}  // namespace stab::engine
