// From the store to what stands behind a report's numbers: the plan, the builds, the machine, what was seen beside each
// trial, and what the lab's last self-test found.
#pragma once

#include "analysis/report/experiment/evidence_of_trials.h"
#include "analysis/report/experiment/samples.h"
#include "base/result.h"
#include "stabd/engine/build/expand.h"
#include "store/store.h"

namespace stab::engine {

// Reads only. `expanded` as expand_stored() made it of the experiment, `samples` as load_samples() made them;
// trials recorded since then are left out.
Result<report::Evidence> load_evidence(store::Store& store, const store::ExperimentRow& experiment,
                                         const ExpandedPlan& expanded, const report::Samples& samples);

}  // namespace stab::engine
