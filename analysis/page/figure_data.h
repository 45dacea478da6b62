// Figure data: what a page draws beyond the report's own numbers, computed here so that the page only places it:
// densities, quantiles, residuals against the normal, pairs, interactions, luck of the link, what more trials would buy.
#pragma once

#include <string>

#include "analysis/report/contrasts.h"
#include "analysis/report/report.h"
#include "analysis/report/samples.h"

namespace stab::analysis {

// "stab-figures", version 1: docs/reference/report-json.md describes it. Lists have 7 significant digits. Nothing in it is NaN.
std::string figures_json(const Samples& samples, const UnitsByResponse& units, const Report& report);

}  // namespace stab::analysis
