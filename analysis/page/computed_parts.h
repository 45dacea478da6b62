// What of a page is computed from its trials: written once, and again to verify it.
#pragma once

#include <span>
#include <string>

#include "analysis/report/causal_data.h"
#include "analysis/report/evidence_of_trials.h"
#include "analysis/page/columns.h"
#include "analysis/report/samples.h"
#include "base/result.h"

namespace stab::analysis {

struct ComputedParts {
  std::string report;    // JSON, as `report --json` prints it
  std::string figures;   // JSON
  std::string plain;     // as `report` prints it
  std::string r_script;
  std::string causal;    // JSON: profiles, and their data
  Columns columns;
};

// Refuses what analyse() and analyse_causal() refuse.
Result<ComputedParts> computed_parts(const Samples& samples, const Evidence& evidence, std::span<const CausalData> profiles = {});

}  // namespace stab::analysis
