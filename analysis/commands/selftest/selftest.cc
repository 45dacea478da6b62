// An A/A experiment asks the lab a question whose answer is known. Its comparisons are independent: each has links of
// its own. So the alarms are binomial, and the exact interval of their rate says whether it can be what was promised.
// Each comparison is judged alone: Holm's family would hide single alarms.
#include "analysis/commands/selftest/selftest.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/report_data/report.h"
#include "analysis/statistics/two_samples/proportion.h"
#include "analysis/text/finding.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

// As stabctl selftest makes them: any other experiment's differences may be real.
bool is_selftest(const report::Samples& samples) {
  const auto is_comparison = [](const std::string& name) { return name.starts_with("aa"); };
  return samples.experiment.starts_with("selftest") && samples.factors.size() == 1 && samples.factors[0].name == "build" &&
         std::all_of(samples.workloads.begin(), samples.workloads.end(), is_comparison);
}

}  // namespace

CommandOutput run_selftest(const report::Samples& samples, const SelftestOptions& options) {
  if (!is_selftest(samples))
    return refused(bad_input("'" + samples.experiment + "' is no selftest: its differences may be real"));
  if (samples.incomplete)
    return refused(
        bad_input("'" + samples.experiment +
                  "' is not finished, so its rate is not known yet; 'stabctl resume' continues it"));
  const Result<report::Report> report = report::analyse(samples);
  if (!report) return refused(report.error());
  uint64_t compared = 0, alarms = 0, after_holm = 0, equivalent = 0, draws = 0;
  double widest = 0;
  std::string refusal;
  for (const report::Contrast& contrast : report->contrasts) {
    if (contrast.workload.empty() || contrast.response != report->responses[0].name) continue;
    if (!contrast.refused.empty()) {
      refusal = contrast.workload + ": " + contrast.refused;
      continue;
    }
    ++compared;
    alarms += contrast.p_value < report->alpha;
    after_holm += contrast.verdict == report::Verdict::kChanged;
    equivalent += contrast.verdict == report::Verdict::kEquivalent;
    draws = draws == 0 ? contrast.n : std::min(draws, contrast.n);
    widest = std::max(widest, contrast.interval.high / contrast.interval.low);
  }
  if (compared == 0)
    return refused(bad_input("no comparison of the selftest could be judged" + (refusal.empty() ? "" : ": " + refusal)));
  const Result<statistics::ProportionTest> rate =
      statistics::exact_binomial(alarms, compared, report->alpha, statistics::Alternative::kGreater, kConfOfAlarms);
  const Result<statistics::ProportionTest> interval =
      statistics::exact_binomial(alarms, compared, report->alpha, statistics::Alternative::kTwoSided, kConfOfAlarms);
  if (!rate || !interval) return refused((rate ? interval : rate).error());
  const bool too_many = interval->conf_low > report->alpha;
  CommandOutput output;
  output.exit_code = too_many ? 1 : 0;
  if (options.json) {
    text::Finding finding;
    finding.add("format", "stab-selftest").add_count("version", 1).add_count("comparisons", compared);
    finding.add_count("links_a_side", draws).add("alpha", report->alpha).add_count("false_alarms", alarms);
    finding.add("rate", interval->estimate).add("conf_low", interval->conf_low).add("conf_high", interval->conf_high);
    finding.add("p_more_than_promised", rate->p_value).add_count("changed_after_holm", after_holm);
    finding.add_count("equivalent", equivalent).add_flag("too_many", too_many);
    output.out = finding.json();
    return output;
  }
  const auto line = [&](const std::string& what, const std::string& value) {
    output.out += "  " + what + std::string(what.size() < 28 ? 28 - what.size() : 1, ' ') + value + "\n";
  };
  output.out = "selftest: " + std::to_string(compared) + " comparisons of builds that differ in their links alone, " +
               std::to_string(draws) + " links a side\n";
  line("false alarms", std::to_string(alarms) + " of " + std::to_string(compared) + ", " + text::percent(interval->estimate) +
                           "; exact 95 % interval " + text::percent(interval->conf_low) + " to " +
                           text::percent(interval->conf_high));
  line("promised", text::percent(report->alpha));
  line("changed after Holm", std::to_string(after_holm) + " (what a report would call slower or faster)");
  line("widest interval", "+-" + text::percent(std::sqrt(widest) - 1));
  output.out += too_many ? "more alarms than promised: something on this machine favours one side; see the validity table of "
                           "'stabctl report', and 'stabctl doctor'\n"
                         : "the lab keeps what it promises, as far as " + std::to_string(compared) + " comparisons can tell\n";
  return output;
}

}  // namespace stab::commands
