// From the store to what a causal analysis takes.
#pragma once

#include <vector>

#include "analysis/report/causal_data.h"
#include "base/result.h"
#include "engine/experiment/expand.h"
#include "store/store.h"

namespace stab::engine {

// One for each subject that has regions, in the plan's order. Empty: the experiment is none with a profile. kBadInput where its
// plan doesn't parse. Reads only.
Result<std::vector<analysis::CausalData>> load_causal(store::Store& store, const store::ExperimentRow& experiment);
// For who has expanded its plan already.
Result<std::vector<analysis::CausalData>> load_causal(store::Store& store, const store::ExperimentRow& experiment,
                                                      const ExpandedPlan& expanded);

}  // namespace stab::engine
