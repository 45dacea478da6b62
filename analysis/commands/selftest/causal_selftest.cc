// Comparisons are independent, as each has trials of its own, so alarms are binomial. Each is judged alone: Holm's family would
// hide single alarms.
#include "analysis/commands/selftest/causal_selftest.h"

#include <algorithm>
#include <cmath>

#include "analysis/causal_report/causal.h"
#include "analysis/statistics/two_samples/proportion.h"
#include "analysis/text/finding.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

struct Tally {
  uint64_t compared = 0, alarms = 0, lines = 0, covered = 0;
  double off = 0, most_off = 0, widest_null = 0;
  std::string refusal;

  void add(const causal_report::CausalReport& report) {
    if (report.nulls.empty() || !report.nulls[0].effect.refused.empty()) {
      refusal = report.design.program + ": " + (report.nulls.empty() ? "no null window" : report.nulls[0].effect.refused);
      return;
    }
    const causal_report::CausalEffect& null = report.nulls[0].effect;
    ++compared;
    alarms += null.p_value < report.design.alpha;
    widest_null = std::max({widest_null, std::fabs(null.speedup.low), std::fabs(null.speedup.high)});
    for (const causal_report::CausalCurve& curve : report.curves) {
      for (const causal_report::CausalArm& arm : curve.arms) {
        if (!arm.effect.refused.empty()) continue;
        const report::Interval& found = arm.effect.speedup;
        ++lines;
        covered += found.low <= kSelftestSaving && kSelftestSaving <= found.high;
        off += std::fabs(found.estimate - kSelftestSaving);
        most_off = std::max(most_off, std::fabs(found.estimate - kSelftestSaving));
      }
    }
  }
};

bool is_selftest(const causal_report::CausalData& data) {
  return data.experiment.starts_with("selftest-causal") && data.program.starts_with("aa") && data.lines.size() == 1 &&
         data.speedups == std::vector<double>{kSelftestSpeedup};
}

}  // namespace

CommandOutput run_causal_selftest(const std::vector<causal_report::CausalData>& programs, const SelftestOptions& options) {
  if (programs.empty()) return refused(bad_input("there is no causal profile to judge"));
  Tally tally;
  for (const causal_report::CausalData& data : programs) {
    if (!is_selftest(data))
      return refused(bad_input("'" + data.experiment + "' is no causal selftest: what its lines are worth is not known"));
    if (data.incomplete)
      return refused(
          bad_input("'" + data.experiment +
                    "' is not finished, so its rate is not known yet; 'stabctl resume' continues it"));
    const Result<causal_report::CausalReport> report = causal_report::analyse_causal(data, 0);
    if (!report) return refused(report.error());
    tally.add(*report);
  }
  if (tally.compared == 0) return refused(bad_input("no comparison of the selftest could be judged: " + tally.refusal));
  const double alpha = programs[0].alpha;
  const Result<statistics::ProportionTest> rate =
      statistics::exact_binomial(tally.alarms, tally.compared, alpha, statistics::Alternative::kTwoSided, kConfOfAlarms);
  if (!rate) return refused(rate.error());
  const bool too_many = rate->conf_low > alpha;
  const double mean_off = tally.lines ? tally.off / static_cast<double>(tally.lines) : 0;
  CommandOutput output;
  output.exit_code = too_many ? 1 : 0;
  if (options.json) {
    text::Finding finding;
    finding.add("format", "stab-causal-selftest").add_count("version", 1).add_count("comparisons", tally.compared);
    finding.add("alpha", alpha).add_count("false_alarms", tally.alarms);
    finding.add("rate", rate->estimate).add("conf_low", rate->conf_low).add("conf_high", rate->conf_high);
    finding.add_flag("too_many", too_many).add("widest_null", tally.widest_null);
    finding.add("saving", kSelftestSaving).add_count("predictions", tally.lines);
    finding.add("mean_error", mean_off).add("largest_error", tally.most_off).add_count("covered", tally.covered);
    output.out = finding.json();
    return output;
  }
  const auto line = [&](const std::string& what, const std::string& value) {
    output.out += "  " + what + std::string(what.size() < 28 ? 28 - what.size() : 1, ' ') + value + "\n";
  };
  const std::string all = std::to_string(tally.compared);
  output.out = "causal selftest: " + all + " comparisons of windows in which all threads pause with windows without a pause\n";
  line("false alarms", std::to_string(tally.alarms) + " of " + all + ", " + text::percent(rate->estimate) +
                           "; exact 95 % interval " + text::percent(rate->conf_low) + " to " + text::percent(rate->conf_high));
  line("promised", text::percent(alpha));
  line("widest null interval", "reaches " + text::percent(tally.widest_null));
  line("a line worth " + text::percent(kSelftestSaving),
       "off by " + text::significant(100 * mean_off, 2) + " points in the mean, " + text::significant(100 * tally.most_off, 2) +
           " at most; its 95 % interval holds the truth in " + std::to_string(tally.covered) + " of " +
           std::to_string(tally.lines));
  output.out += too_many ? "more alarms than promised: pausing itself changes programs on this machine; see 'stabctl doctor'\n"
                         : "causal profiles keep what they promise, as far as " + all + " comparisons can tell\n";
  return output;
}

}  // namespace stab::commands
