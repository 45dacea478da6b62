// Figures: gnuplot scripts for what a table can't show, and their drawing as SVG.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"
#include "base/result.h"

namespace stab::report {

struct Figure {
  std::string file;    // "strip-lua.svg"
  std::string script;  // gnuplot, data inline, writes to standard output
};

// For the primary response and each workload: strip (every unit by cell), qq (standardized residuals), interaction
// (means of the first two varying factors), sequence (residuals in run order).
std::vector<Figure> figures_of(const Samples& design, const std::vector<WorkloadUnits>& workloads);

// Draws each into `folder`, which is created. Refuses, with the cure, where gnuplot is absent or fails.
Status draw(const std::vector<Figure>& figures, const std::string& folder);

}  // namespace stab::report
