// Exports: the rows behind a report as CSV, and an R script that repeats the analysis on them.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// One line a trial: workload, factors, block, order, seed, link, layout, excluded, responses. `layout` numbers the
// independent units within workload and cell. Empty fields where there is no value.
std::string export_csv(const Samples& samples);
// The same columns for data that never was trials.
std::string export_csv(const Samples& design, const std::vector<std::vector<WorkloadUnits>>& units);

// Base R only. Reads the CSV named on its command line, else data.csv.
std::string export_r(const Report& report);

}  // namespace stab::report
