// Control trials: trials of null and baseline windows alone, behind the plan's own, where these leave a null control open
// (analysis/causal_report/null_extension.h); at most as many as the plan has replicates. Whether there are any is decided once,
// after the last of the plan's trials, and logged: an experiment that was killed goes on with the same ones, and further blocks
// of `stabctl extend` are ordinary ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "store/store.h"

namespace stab::engine {

// Kind of log lines: "FIRST BLOCKS words".
inline constexpr char kCausalControls[] = "causal-controls";

// Blocks of the schedule.
struct ControlTrials {
  int64_t first = 0, blocks = 0;
  bool has(int64_t block) const { return block >= first && block < first + blocks; }
};

// What was decided; nothing: it is still to be decided.
std::optional<ControlTrials> control_trials_of(const std::vector<store::EventRow>& events);

// Decides, says and logs; plans the trials that it takes. pre: the gate is held, no trial of the plan is left, nothing was
// decided
Result<ControlTrials> add_control_trials(LiveExperiment& experiment);

}  // namespace stab::engine
