// The report for people: a terminal or Markdown. One screen first: the answers in sentences, then what differs, by how
// much, how sure, and what to be careful of. Then the tables a statistician asks for, in the order of the questions.
// Rendering computes nothing: numbers come from the report.
#include <algorithm>

#include "analysis/report/rendering/render_estimators.h"
#include "analysis/report/rendering/report_sections.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/markup.h"

namespace stab::report {
namespace {

// "code = stack:heap, stack = code:heap": which effects each factor's contrast stands for, in the primary response.
std::string alias_text(const Report& report) {
  std::string out;
  for (const Factor& factor : report.factors) {
    for (const Contrast& contrast : report.contrasts) {
      if (contrast.response != report.responses[0].name || contrast.factor != factor.name || contrast.aliases.empty()) continue;
      out += (out.empty() ? "" : ", ") + alias_string(factor.name, contrast.aliases);
      break;
    }
  }
  return out;
}

std::string header_section(const Pen& pen, const Report& report) {
  std::string levels;
  uint64_t crossing = 1;
  for (const Factor& factor : report.factors) {
    levels += (levels.empty() ? "" : " x ") + factor.name + " {";
    for (size_t i = 0; i < factor.levels.size(); ++i) levels += (i ? ", " : "") + factor.levels[i];
    levels += "}";
    crossing *= factor.levels.size();
  }
  const Response& primary = report.responses[0];
  const std::string margin = primary.margin == 0                                       ? "none"
                             : primary.scale == Scale::kLog || primary.margin_is_share ? plain(100 * primary.margin) + " %"
                                                                                       : value_text(primary, primary.margin, 3);
  const std::string name = report.experiment.empty() ? "report" : report.experiment;
  const auto line = [&](const std::string& text) {
    return pen.markdown ? pen.item(text) : text::wrap(text, pen.width, "", "  ");
  };
  std::string out = (pen.markdown ? "# " + text::as_markdown(name) : pen.paint("1", name)) + ": " +
                    plural(report.workloads.size(), report.workload_word) + ", " +
                    (report.cell_count < crossing ? std::to_string(report.cell_count) + " of " : "") + plural(crossing, "cell") +
                    ", " + plural(report.analysed, report.trial_word) + " analysed";
  if (report.excluded) out += ", " + std::to_string(report.excluded) + " excluded";
  if (report.failed) out += ", " + std::to_string(report.failed) + " failed";
  out += "\n";
  if (pen.markdown) out += "\n";
  if (!levels.empty()) out += line("factors: " + levels);
  if (const std::string aliases = alias_text(report); !aliases.empty())
    out += line("fraction: each effect is estimated from all cells, and is that of a sum: " + aliases);
  out += line("response: " + primary.name + (primary.scale == Scale::kLog ? " on a log scale (ratios of geometric means)" : "") +
              ", margin " + margin + ", alpha " + plain(100 * report.alpha) + " %");
  if (!report.stopping.empty()) out += line("stopping: " + report.stopping);
  return out;
}

std::string caveats_section(const Pen& pen, const Report& report) {
  if (report.caveats.empty()) return {};
  std::string out = pen.heading("Read with care");
  for (const Caveat& caveat : report.caveats)
    out += pen.item(caveat.message + "; " + caveat.hint);
  return out;
}

std::string render(const Pen& pen, const Report& report) {
  return header_section(pen, report) + answer(pen, report) + verdicts_section(pen, report) + caveats_section(pen, report) +
         slicing_section(pen, report) + estimators_text(pen, report) + machines_section(pen, report) +
         workload_contrasts_section(pen, report, true) + benchmarks_section(pen, report) + halves_section(pen, report) +
         anovas_section(pen, report) + cells_section(pen, report) + components_section(pen, report) +
         diagnostics_section(pen, report) + shapes_section(pen, report) + environment_section(pen, report) +
         doses_section(pen, report) + validity_section(pen, report) + workload_contrasts_section(pen, report, false);
}

}  // namespace

std::string render_terminal(const Report& report, int width, bool colour) {
  return render(Pen{std::clamp(width, 60, 200), colour, false}, report);
}

std::string render_markdown(const Report& report) { return render(Pen{200, false, true}, report); }

}  // namespace stab::report
