// Samples in a page: the design as JSON, the trials as columns, and back, bit for bit. What is derived from them for
// drawing (`deviation/...`) stands beside them.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "analysis/page/columns.h"
#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/experiment/evidence_of_trials.h"
#include "analysis/report/experiment/samples.h"

namespace stab::page {

// Everything of the trials. `units` as analyse() reduced them; `evidence` may be empty.
Columns columns_of(const report::Samples& samples, const report::UnitsByResponse& units, const report::Evidence& evidence);

// "stab-samples", version 2: docs/reference/report-json.md describes it.
std::string samples_json(const report::Samples& samples, const Columns& columns);

struct ReadSamples {
  report::Samples samples;
  Columns columns;
};
// kCorrupt names what doesn't fit.
Result<ReadSamples> read_samples(const nlohmann::json& described, std::string_view packed);

}  // namespace stab::page
