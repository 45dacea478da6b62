// What the two programs of `stabctl explain` did when each ran alone: trials of the preflight, and those that were sampled.
#pragma once

#include "analysis/commands/explain/explain.h"
#include "base/result.h"
#include "store/store.h"

namespace stab::ctl {

// Adds the trials of an experiment that ran alone, and passed: of each program the one that was busiest counts. A program that
// waits does so each time; one that seemed to may have waited for its file to be read. pre: the plan's first factor has the two
// programs, the old one first. Without trials `out` stays as it is.
Status add_tries(store::Store& store, const store::ExperimentRow& row, store::TrialKind kind,
                 std::optional<commands::AloneFacts>& out);

}  // namespace stab::ctl
