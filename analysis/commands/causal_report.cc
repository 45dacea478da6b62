#include "analysis/commands/causal_report.h"

#include <cmath>
#include <cstdio>

#include "analysis/report/causal.h"
#include "analysis/report/null_extension.h"
#include "analysis/statistics/distributions.h"
#include "analysis/text/json_writer.h"

namespace stab::analysis {
namespace {

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string minutes_text(double minutes) {
  if (minutes < 2) return number("%.0f s", std::ceil(minutes * 60));
  return minutes < 120 ? number("%.0f min", std::ceil(minutes)) : number("%.1f h", minutes / 60);
}

}  // namespace

CommandOutput run_causal_report(const std::vector<CausalData>& programs, const ReportOptions& options) {
  if (options.format == ReportFormat::kCsv || options.format == ReportFormat::kR || options.format == ReportFormat::kLatex)
    return refused(bad_input("a causal profile is made of windows, not of trials: use --json, or --coz FILE for coz's own "
        "viewer"));
  CommandOutput output;
  JsonWriter json;
  json.begin_object().begin_array("programs");
  for (const CausalData& data : programs) {
    const Result<CausalReport> report = analyse_causal(data);
    if (!report) return refused(report.error());
    if (options.format == ReportFormat::kJson) {
      json.begin_object();
      write_causal(json, *report);
      json.end();
      continue;
    }
    if (!output.out.empty()) output.out += "\n";
    output.out += options.format == ReportFormat::kMarkdown ? render_causal_markdown(*report)
                                                            : render_causal_text(*report, options.width, options.colour);
  }
  if (options.format == ReportFormat::kJson) output.out = json.end().end().take();
  return output;
}

Result<std::string> causal_for_coz(const std::vector<CausalData>& programs) {
  if (programs.empty()) return bad_input("there is no causal profile to export");
  if (programs.size() > 1 || programs.front().cells.size() > 1)
    return bad_input("coz's format has one program and one cell, this experiment has " + std::to_string(programs.size()) +
        " and " +
                     std::to_string(programs.front().cells.size()) + "; run a plan of one, or use --json");
  return coz_profile(programs.front(), 0);
}

namespace {

// Null windows that know the control to half of the margin, beside so many baselines each. As NullExtension aims.
uint64_t nulls_for(const CausalWish& wish, double spread) {
  const double ratio = normal_quantile(1 - wish.alpha / 2) * spread / (kNullMarginShare * wish.margin);
  const double baselines = static_cast<double>(wish.block_baselines) / static_cast<double>(wish.block_nulls);
  return static_cast<uint64_t>(std::ceil(ratio * ratio * (1 + 1 / baselines)));
}

std::string null_control_text(const CausalWish& wish, double quiet, double noisy) {
  if (wish.block_nulls == 0 || wish.block_baselines == 0) return {};
  std::string out = "  the null control must be inside the margin, or verdicts are withheld: about " +
                    std::to_string(nulls_for(wish, quiet)) + " null windows a cell settle it on a quiet machine, " +
                    std::to_string(nulls_for(wish, noisy)) + " on a noisy one; a block has " + std::to_string(wish.block_nulls);
  if (wish.trial_s) {
    const double windows = std::floor(*wish.trial_s / (wish.window_s + wish.cooloff_s)) * static_cast<double>(wish.replicates);
    const double nulls = windows * static_cast<double>(wish.block_nulls) / static_cast<double>(wish.block_windows);
    out += ", the plan's trials " + number("%.0f", nulls);
  }
  return out + "; where that is too few, up to " + std::to_string(wish.control_trials) +
         (wish.control_trials == 1 ? " control trial follows" : " control trials a cell follow") + "\n";
}

}  // namespace

std::string causal_wish_text(const CausalWish& wish) {
  // Seen of programs whose windows have some hundred visits: a quiet machine, and one with other work.
  constexpr double kQuiet = 0.015, kNoisy = 0.04;
  std::string out = "causal profile: at most " + std::to_string(wish.lines) + (wish.lines == 1 ? " line x " : " lines x ") +
                    std::to_string(wish.speedups) + (wish.speedups == 1 ? " speedup" : " speedups") + ", windows of " +
                    number("%g s", wish.window_s) + "\n";
  for (const auto& [words, spread] : {std::pair{"quiet", kQuiet}, std::pair{"noisy", kNoisy}}) {
    CausalBudget budget;
    budget.lines = wish.lines;
    budget.speedups = wish.speedups;
    budget.cells = wish.cells * wish.programs;
    budget.spread = spread;
    budget.window_s = wish.window_s;
    budget.cooloff_s = wish.cooloff_s;
    budget.control_share = wish.control_share;
    budget.alpha = wish.alpha;
    budget.margin = wish.margin;
    const CausalPlanning planning = plan_windows(budget, wish.margin);
    out += std::string("  on a ") + words + " machine (" + number("%g", 100 * spread) + " % a window): " +
           std::to_string(planning.arm_windows) + " windows an arm give +- " + number("%g", 100 * wish.margin) + " %, " +
           std::to_string(planning.windows) + " in all, " + minutes_text(planning.minutes) +
               " of the program's time; they show " +
           number("%.1f", 100 * planning.detectable) + " % in four of five profiles\n";
  }
  out += null_control_text(wish, kQuiet, kNoisy);
  return out + "  a trial has as many windows as it lasts for; more of the program's work, or more replicates, make more of "
      "them\n";
}

}  // namespace stab::analysis
