#include "analysis/commands/causal_report.h"

#include <cmath>
#include <cstdio>

#include "analysis/report/causal.h"
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
  if (options.format == ReportFormat::kCsv || options.format == ReportFormat::kR)
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
  return out + "  a trial has as many windows as it lasts for; more of the program's work, or more replicates, make more of "
      "them\n";
}

}  // namespace stab::analysis
