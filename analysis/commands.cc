// stabctl report and compare, without their input and output. The other commands are in stats_command.cc and
// analyze_command.cc.
#include "analysis/commands.h"

#include "analysis/report.h"

namespace stab::analysis {

CommandOutput refused(const Error& error) { return {"", "error: " + error.text() + "\n", 2}; }

CommandOutput run_report(const Samples& samples, const ReportOptions& options) {
  const Result<Report> report = analyse(samples);
  if (!report) return refused(report.error());
  switch (options.format) {
    case ReportFormat::kTerminal: return {render_terminal(*report, options.width, options.colour), "", 0};
    case ReportFormat::kJson: return {to_json(*report), "", 0};
  }
  return {};
}

}  // namespace stab::analysis
