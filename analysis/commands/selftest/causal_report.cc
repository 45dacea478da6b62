#include "analysis/commands/selftest/causal_report.h"

#include <cmath>
#include <cstdio>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/json_writer.h"
#include "base/number_text.h"
#include "base/wording.h"

namespace stab::commands {
namespace {

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

CommandOutput run_causal_report(const std::vector<causal_report::CausalData>& programs, const ReportOptions& options) {
  if (options.format == ReportFormat::kCsv || options.format == ReportFormat::kR || options.format == ReportFormat::kLatex)
    return refused(bad_input("a causal profile is made of windows, not of trials: use --json, or --coz FILE for coz's own "
        "viewer"));
  CommandOutput output;
  text::JsonWriter json;
  json.begin_object().begin_array("programs");
  for (const causal_report::CausalData& data : programs) {
    const Result<causal_report::CausalReport> report = causal_report::analyse_causal(data);
    if (!report) return refused(report.error());
    if (options.format == ReportFormat::kJson) {
      json.begin_object();
      causal_report::write_causal(json, *report);
      json.end();
      continue;
    }
    if (!output.out.empty()) output.out += "\n";
    output.out += options.format == ReportFormat::kMarkdown
                      ? causal_report::render_causal_markdown(*report)
                      : causal_report::render_causal_text(*report, options.width, options.colour);
  }
  if (options.format == ReportFormat::kJson) output.out = json.end().end().take();
  return output;
}

Result<std::string> causal_for_coz(const std::vector<causal_report::CausalData>& programs) {
  if (programs.empty()) return bad_input("there is no causal profile to export");
  if (programs.size() > 1 || programs.front().cells.size() > 1)
    return bad_input("coz's format has one program and one cell, this experiment has " + std::to_string(programs.size()) +
        " and " +
                     std::to_string(programs.front().cells.size()) + "; run a plan of one, or use --json");
  return causal_report::coz_profile(programs.front(), 0);
}

namespace {

// Seen of programs whose windows have some hundred visits: a quiet machine, and one with other work.
struct Machine {
  const char* words;
  double spread;
};
constexpr Machine kQuiet{"quiet", 0.015}, kNoisy{"noisy", 0.04};

std::string short_percent(double share) {
  return number("%.3g", 100 * share) + " %";
}

causal_report::CausalBudget on(const Machine& machine, causal_report::CausalBudget budget) {
  budget.spread = machine.spread;
  return budget;
}

// "+- 1.2 % and 4.3 %": an interval, and what is shown in four of five profiles.
std::string both_of(const causal_report::CausalPlanning& planning) {
  return "+- " + short_percent(planning.half_width) + " and " + short_percent(planning.detectable);
}

std::string null_control_text(const CausalWish& wish, std::optional<uint64_t> plans_nulls) {
  const char* windows = wish.whole_runs ? " null runs" : " null windows";
  std::string out = "  verdicts need the null control within the margin: about " +
                    std::to_string(causal_report::null_windows_for(on(kQuiet, wish.budget))) + windows +
                    " a cell decide that on a quiet machine, " +
                    std::to_string(causal_report::null_windows_for(on(kNoisy, wish.budget))) +
                    " on a noisy one; a block has " + std::to_string(wish.budget.block_nulls);
  if (plans_nulls) out += ", the plan's trials " + std::to_string(*plans_nulls);
  if (wish.whole_runs) return out + "; no control trials follow whole runs\n";
  return out + "; if that is too few, up to " + std::to_string(wish.control_trials) +
         (wish.control_trials == 1 ? " control trial follows" : " control trials a cell follow") + "\n";
}

std::string too_few(uint64_t trials, const char* what) {
  return "  verdicts need " + std::to_string(causal_report::kFewestCausalTrials) + " " + what + " a cell, and the plan has " +
         std::to_string(trials) + ": it will show numbers and give no verdict\n";
}

// What windows of so many an arm give, one machine below the other.
std::string wanted_text(const CausalWish& wish) {
  std::string out;
  for (const Machine& machine : {kQuiet, kNoisy}) {
    const causal_report::CausalPlanning planning = causal_report::plan_windows(on(machine, wish.budget), wish.budget.margin);
    out += std::string("  on a ") + machine.words + " machine (" + number("%g", 100 * machine.spread) +
           " % a window): " + std::to_string(planning.arm_windows) + " windows an arm give +- " +
           number("%g", 100 * wish.budget.margin) + " %, " + std::to_string(planning.windows) + " in all, " +
           report::machine_time_text(60 * planning.minutes) + " of the program's time; they show " +
           short_percent(planning.detectable) + " in four of five profiles\n";
  }
  return out;
}

std::string had_text(const CausalWish& wish, uint64_t arm_windows, const std::string& made) {
  if (arm_windows == 0) return "  " + made + ", fewer than a block, so most lines are not tried once\n";
  return "  " + made + ": " + both_of(causal_report::plan_from_windows(on(kQuiet, wish.budget), arm_windows)) +
         " in four of five profiles on a quiet machine, " +
         both_of(causal_report::plan_from_windows(on(kNoisy, wish.budget), arm_windows)) + " on a noisy one\n";
}

std::string whole_runs_text(const CausalWish& wish) {
  const uint64_t runs = wish.budget.trials, blocks = runs / wish.budget.block_windows;
  std::string out = "  a block has " + std::to_string(wish.budget.block_windows) +
                    " runs, among them one of each line at each speedup; " + std::to_string(runs) +
                    (runs == 1 ? " replicate is " : " replicates are ") + plural(blocks, "block") + " a cell\n";
  if (blocks < causal_report::kFewestCausalTrials) return out + too_few(blocks, "blocks");
  CausalWish of_blocks = wish;
  of_blocks.budget.trials = blocks;
  return out + had_text(of_blocks, blocks, std::to_string(blocks) + " runs an arm give and show") +
         null_control_text(of_blocks, blocks * wish.budget.block_nulls);
}

}  // namespace

std::string causal_wish_text(const CausalWish& wish) {
  const causal_report::CausalBudget& budget = wish.budget;
  std::string out = "causal profile: at most " + std::to_string(budget.lines) + (budget.lines == 1 ? " line x " : " lines x ") +
                    std::to_string(budget.speedups) + (budget.speedups == 1 ? " speedup, " : " speedups, ");
  if (wish.whole_runs) return out + "each run of the program is one window\n" + whole_runs_text(wish);
  out += "windows of " + number_text(budget.window_s) + " s\n";
  if (budget.trials < causal_report::kFewestCausalTrials)
    out += too_few(budget.trials, "trials");
  else
    out += wanted_text(wish);
  std::optional<uint64_t> nulls;
  if (wish.trial_s) {
    const auto windows = static_cast<uint64_t>(std::floor(*wish.trial_s / (budget.window_s + budget.cooloff_s)));
    const uint64_t all = windows * budget.trials;
    nulls = all * budget.block_nulls / budget.block_windows;
    if (windows < 2) {
      out += "  a trial of " + number("%g s", *wish.trial_s) +
             " is shorter than two windows: write a shorter window, or give the "
             "program more work\n";
    } else if (budget.trials >= causal_report::kFewestCausalTrials) {
      const uint64_t each = all / budget.block_windows;
      out += had_text(wish, each,
                      "the plan's trials have " + std::to_string(all) + " windows a cell, " + std::to_string(each) +
                          " an arm, which give and show");
    }
  }
  if (budget.trials >= causal_report::kFewestCausalTrials) out += null_control_text(wish, nulls);
  return out +
         "  a trial has as many windows as it lasts for; more of the program's work, or more replicates, make more of them\n";
}

}  // namespace stab::commands
