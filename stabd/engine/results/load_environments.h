// From the store to the analysis: what the machine was like while each trial ran.
#pragma once

#include <vector>

#include "analysis/report/experiment/samples.h"
#include "base/result.h"
#include "store/store.h"

namespace stab::engine {

// pre: samples.trials are those of `facts`, in their order, and machines are loaded. Facts of machines that the plan could have
// asked to be the same (plan::kSameFacts) stand in machine_differences already; what else differs between them is added there.
Status load_environments(store::Store& store, store::Id experiment, const std::vector<store::TrialFacts>& facts,
                         report::Samples& samples);

}  // namespace stab::engine
