// Diagnostics of one workload: is what the analysis takes for independent, normal and equally spread so? Shown, never used
// to choose a method. How often each speaks without cause, and how often with: docs/explanation/how-often-wrong.md, from
// tests/bench/diagnostics_table.
#pragma once

#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// Appends a diagnostic for each check; one that can't be made says why.
void diagnose(const Samples& samples, size_t response, uint32_t workload, const WorkloadUnits& units,
              std::vector<Diagnostic>& out);

}  // namespace stab::report
