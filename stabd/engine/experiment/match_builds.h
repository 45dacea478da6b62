// Before the first trial: what the builds of each program have in common, so that a block's layouts can be matched.
#pragma once

#include "base/result.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/experiment/trial_runner.h"
#include "store/records.h"

namespace stab::engine {

inline constexpr char kMatchedLayouts[] = "matched-layouts";  // a kind of log lines
// What stands around the reason, in one of them, why there is no match table.
inline constexpr char kNoMatchTable[] = "no match table can be made: ", kRestIsMatched[] = "; pads and heap draws are matched";

// Tells the runner of each program's match table, where the plan matches layouts. Where there can be none its code is drawn
// alone, as the experiment's log and each trial's dose say. `of`: the experiment whose builds these are; a replay's is the one
// that is replayed.
Status match_layouts(LiveExperiment& experiment, TrialRunner& runner, const store::ExperimentRow& of);

}  // namespace stab::engine
