// Windows of virtual speedup in a page: "stab-causal", version 1, which docs/reference/report-json.md describes. Profiles stand
// beside the data that they are computed from, so that they can be computed again.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/causal_report/causal_data.h"
#include "base/result.h"

namespace stab::page {

// One profile a program. Refuses what analyse_causal() refuses.
Result<std::string> causal_json(std::span<const causal_report::CausalData> programs);

// The data of the profiles, bit for bit. kCorrupt names what doesn't fit.
Result<std::vector<causal_report::CausalData>> read_causal(const nlohmann::json& described);

}  // namespace stab::page
