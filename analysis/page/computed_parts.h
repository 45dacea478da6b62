// What of a page is computed from its trials: written once, and again to verify it.
#pragma once

#include <span>
#include <string>

#include "analysis/causal_report/causal_data.h"
#include "analysis/page/columns.h"
#include "analysis/report/experiment/evidence_of_trials.h"
#include "analysis/report/experiment/samples.h"
#include "base/result.h"

namespace stab::page {

struct ComputedParts {
  std::string report;    // JSON, as `report --json` prints it
  std::string figures;   // JSON
  std::string plain;     // as `report` prints it
  std::string r_script;
  std::string causal;    // JSON: profiles, and their data
  Columns columns;
};

// Refuses what analyse() and analyse_causal() refuse.
Result<ComputedParts> computed_parts(const report::Samples& samples, const report::Evidence& evidence,
                                     std::span<const causal_report::CausalData> profiles = {});

}  // namespace stab::page
