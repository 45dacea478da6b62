#include "analysis/commands/answers/render.h"

#include "analysis/report/rendering/export.h"
#include "analysis/report/rendering/figures.h"

namespace stab::commands {

Result<ReportOptions> report_options_of(const Arguments& args, int width, bool colour) {
  ReportOptions options{.width = width, .colour = colour, .figures = args.text("figures")};
  const std::pair<const char*, ReportFormat> formats[] = {{"json", ReportFormat::kJson},
                                                          {"markdown", ReportFormat::kMarkdown},
                                                          {"latex", ReportFormat::kLatex},
                                                          {"csv", ReportFormat::kCsv},
                                                          {"r", ReportFormat::kR}};
  int asked = 0;
  for (const auto& [flag, format] : formats) {
    if (!args.has(flag)) continue;
    options.format = format;
    ++asked;
  }
  if (asked > 1) return bad_input("--json, --markdown, --latex, --csv and --r exclude each other");
  return options;
}

CommandOutput render(const report::Report& report, const report::Samples& design,
                     const std::vector<std::vector<report::WorkloadUnits>>& units, const ReportOptions& options) {
  if (!options.figures.empty())
    if (const Status drawn = report::draw(report::figures_of(design, units[0]), options.figures); !drawn)
      return refused(drawn.error());
  switch (options.format) {
    case ReportFormat::kFirstScreen:
      return {report::render_first_screen(report, options.where, options.width, options.colour), "", 0};
    case ReportFormat::kTerminal: return {report::render_terminal(report, options.width, options.colour), "", 0};
    case ReportFormat::kJson: return {report::to_json(report), "", 0};
    case ReportFormat::kMarkdown: return {report::render_markdown(report), "", 0};
    case ReportFormat::kLatex: return {report::render_latex(report), "", 0};
    case ReportFormat::kCsv:
      return {design.trials.empty() ? report::export_csv(design, units) : report::export_csv(design), "", 0};
    case ReportFormat::kR: return {report::export_r(report), "", 0};
  }
  return {};
}

CommandOutput run_report(const report::Samples& samples, const ReportOptions& options) {
  const Result<report::Report> report = report::analyse(samples);
  if (!report) return refused(report.error());
  std::vector<std::vector<report::WorkloadUnits>> units(1);
  if (!options.figures.empty())
    for (uint32_t w = 0; w < samples.workloads.size(); ++w) units[0].push_back(report::units_of(samples, w, 0));
  return render(*report, samples, units, options);
}

}  // namespace stab::commands
