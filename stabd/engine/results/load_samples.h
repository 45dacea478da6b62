// From the store to what the analysis takes: design facts and one row for each recorded trial.
#pragma once

#include "analysis/report/experiment/samples.h"
#include "base/result.h"
#include "stabd/engine/build/expand.h"
#include "store/store.h"

namespace stab::engine {

// Kind of the event that says that an exclusion rule found nothing to judge; reports repeat it.
inline constexpr char kIdleRule[] = "idle-rule";
// Kind of the event that says that somebody saw the cells by name before the experiment was over; so do reports.
inline constexpr char kUnmasked[] = "unmasked";

// Reads only; works while an engine writes to the same database. kBadInput where the experiment has no plan
// that parses.
Result<report::Samples> load_samples(store::Store& store, const store::ExperimentRow& experiment);
// For who has expanded its plan already.
Result<report::Samples> load_samples(store::Store& store, const store::ExperimentRow& experiment, const ExpandedPlan& expanded);

// Blocks from the first one on of which no trial is to come any more, of those that have trials; UINT32_MAX: of none.
Result<uint32_t> whole_blocks(store::Store& store, store::Id experiment);

// What the ledger of one trial shows; thresholds and their reasons are in the .cc.
uint32_t disturbances(const std::map<std::string, double>& ledger);

}  // namespace stab::engine
