// From samples or a report to what a command says; shared by report, analyze and import.
#pragma once

#include <vector>

#include "analysis/commands/answers/command_output.h"
#include "analysis/commands/table/method_flags.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::commands {

// --json, --markdown, --csv, --r (at most one) and --figures.
Result<ReportOptions> report_options_of(const Arguments& args, int width, bool colour);

// units[0]: of the primary response; needed for figures, and for kCsv where the design has no trials.
CommandOutput render(const report::Report& report, const report::Samples& design,
                     const std::vector<std::vector<report::WorkloadUnits>>& units, const ReportOptions& options);

// stabctl report: analyse and render. kCsv exports the trials, kR a script that repeats the analysis on them.
CommandOutput run_report(const report::Samples& samples, const ReportOptions& options);

}  // namespace stab::commands
