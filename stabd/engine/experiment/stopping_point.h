// StoppingPoint: where the engine may look at an experiment's data, and what the plan's stopping rule makes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/plan.h"
#include "store/store.h"

namespace stab::engine {

// The declared number of replicates that are complete just before `next` runs, if a decision is due: `next` is of the
// first block after them, and nothing of that block or a later one was tried yet. So a decision is taken once, also
// when the engine dies before or after it. Nothing for the last point, which is the end, nor for trials in random order,
// which completes no block before the last.
Result<std::optional<int>> due_stopping_point(store::Store& store, const store::ExperimentRow& experiment,
                                              const plan::Plan& plan, const store::TrialRow& next);

struct StoppingDecision {
  int replicates = 0;  // in all; trials of later blocks are not needed
  std::string text;    // for the event log: what was found; empty: nothing that is worth a line
};

// looks, and a sequence: no further replicates once every contrast is settled at this look. precision: as many as Stein's rule
// wants after the first stage. What can't be computed stops nothing: the decision is then the plan's maximum, and the
// text says why.
Result<StoppingDecision> decide_at(store::Store& store, const store::ExperimentRow& experiment, const plan::Plan& plan,
                                   int replicates);

}  // namespace stab::engine
