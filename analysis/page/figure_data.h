// Figure data: what a page draws beyond the report's own numbers, computed here so that the page only places it:
// densities, quantiles, residuals against the normal, pairs, interactions, luck of the link, what more trials would buy.
#pragma once

#include <string>

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::page {

// "stab-figures", version 1: docs/reference/report-json.md describes it. Lists have 7 significant digits. Nothing in it is NaN.
std::string figures_json(const report::Samples& samples, const report::UnitsByResponse& units, const report::Report& report);

}  // namespace stab::page
