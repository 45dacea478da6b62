// From the store to what a causal analysis takes.
#pragma once

#include <vector>

#include "analysis/causal_report/causal_data.h"
#include "base/result.h"
#include "stabd/engine/build/expand.h"
#include "store/store.h"

namespace stab::engine {

// One for each subject that has windows, in the plan's order. Empty: the experiment is none with a profile, or has no window yet;
// the latter's programs are then `without`. kCorrupt where its plan doesn't parse. Reads only.
Result<std::vector<causal_report::CausalData>> load_causal(store::Store& store, const store::ExperimentRow& experiment,
                                                    std::vector<std::string>* without = nullptr);
// For who has expanded its plan already.
Result<std::vector<causal_report::CausalData>> load_causal(store::Store& store, const store::ExperimentRow& experiment,
                                                    const ExpandedPlan& expanded, std::vector<std::string>* without = nullptr);

// For people, of a profile that there isn't: "no window of 'a' yet, ..."; empty: there is nothing to say.
std::string words_without_windows(const store::ExperimentRow& experiment, const std::vector<std::string>& without);

}  // namespace stab::engine
