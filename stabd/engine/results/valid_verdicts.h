// Valid verdicts: what may be told of an experiment that still runs. Only a confidence sequence has any before its end: its
// intervals hold at all looks together, so that seeing one and stopping there makes no false alarm
// (docs/explanation/verdicts.md, peeking). Everything else stays masked (stabd/daemon/events/blinding.h): cells, times, and the
// verdicts of all other rules.
#pragma once

#include <string>

#include "analysis/report/experiment/samples.h"
#include "base/result.h"
#include "store/store.h"

namespace stab::engine {

// The contrasts of declared responses that a sequence covers, after the last whole block: {"replicates": n, "contrasts": [...]}
// as docs/reference/protocol.md has it. Empty where nothing may be told yet: another rule, before the first replicates, or no
// contrast with an interval.
Result<std::string> valid_verdicts_json(const report::Samples& samples);

// The same of an experiment by its recorded trials, which are read only where its plan says `rule = "sequence"`. An experiment
// that has no trial to analyse yet has no verdicts: that is no error.
Result<std::string> valid_verdicts(store::Store& store, const store::ExperimentRow& experiment);

}  // namespace stab::engine
