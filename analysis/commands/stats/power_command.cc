// `stabctl plan power`: how many replicates settle a question as large as the margin, from what a pilot knows of the
// spread. A contrast's standard error shrinks with the root of the draws, and its degrees of freedom grow with them: settling.h
// has both, power.h the exact powers.
#include "analysis/commands/stats/power_command.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/settling.h"
#include "analysis/statistics/planning/power.h"
#include "analysis/text/finding.h"

namespace stab::commands {
namespace {

constexpr uint64_t kMost = 10'000'000;  // draws; beyond it the answer is "another experiment"

// Draws at which a difference of `margin` is found, or at which it is shown that there is none, with this power. 0: none up to
// kMost.
uint64_t needed(const report::Contrast& contrast, const std::function<double(const report::KnownError&, uint64_t)>& power_at,
                double power) {
  if (!(contrast.standard_error > 0)) return 0;
  const report::KnownError error{contrast.standard_error, contrast.df, contrast.n};
  return statistics::fewest(2, kMost, [&](uint64_t draws) { return power_at(error, draws) >= power; });
}

// Size of the family in which the plan's verdicts will be judged (contrasts.cc): contrasts x programs x declared responses. A
// program that the pilot didn't run brings as many questions as one that it ran, and so does each response.
double family_size(const report::Report& report, size_t workloads, const PowerOptions& options) {
  const auto asked = std::count_if(report.contrasts.begin(), report.contrasts.end(), [&](const report::Contrast& contrast) {
    return contrast.response == report.responses[0].name && !contrast.workload.empty() && contrast.refused.empty();
  });
  return static_cast<double>(static_cast<size_t>(asked) * options.responses) *
         (1 + static_cast<double>(options.unknown.size()) / static_cast<double>(workloads));
}

}  // namespace

CommandOutput run_power(const report::Samples& pilot, const PowerOptions& options) {
  if (!(options.power > 0 && options.power < 1))
    return refused(bad_input("the power must lie between 0 and 1: 0.8 finds the difference in four of five experiments"));
  if (options.is_sliced && *options.is_sliced != pilot.is_sliced)
    return refused(bad_input(std::string("the plan runs its blocks ") +
                             (pilot.is_sliced ? "one trial after the other" : "in slices") + " and the pilot ran them " +
                             (pilot.is_sliced ? "in slices" : "one trial after the other") +
                             ": their spreads differ by an order of magnitude; run a pilot of the plan's kind"));
  report::Samples samples = pilot;
  samples.incomplete = false;  // its spread is asked for, not its verdicts
  samples.stopping = {};
  if (options.margin && !samples.responses.empty()) samples.responses[0].margin = *options.margin;
  const Result<report::Report> report = report::analyse(samples);
  if (!report) return refused(report.error());
  const report::Response& primary = report->responses[0];
  if (!(primary.margin > 0))
    return refused(bad_input("the plan declares no margin; say margin = \"1%\" in [experiment], or --margin"));
  // Holm asks this of the smallest p, and less of those after it: n is enough whatever the other questions turn out to be.
  const double questions = family_size(*report, samples.workloads.size(), options);
  const double level = report->alpha / std::max(1.0, questions);
  std::vector<text::Finding> rows;
  uint64_t most = 0;
  bool out_of_reach = false, linked = false;
  std::string refusal;
  for (const report::Contrast& contrast : report->contrasts) {
    if (contrast.response != primary.name || contrast.workload.empty()) continue;
    if (!contrast.refused.empty()) {
      refusal = contrast.refused;
      continue;
    }
    if (contrast.by_alone) {
      refusal = "slicing changes what differs, so that blocks alone answer it: plan such, by a pilot of such";
      continue;
    }
    linked |= contrast.by_link;
    text::Finding row;
    const uint64_t change = needed(
        contrast,
        [&](const report::KnownError& error, uint64_t draws) {
          return statistics::change_power(error.at(contrast.margin, draws), level);
        },
        options.power);
    const uint64_t same = needed(
        contrast,
        [&](const report::KnownError& error, uint64_t draws) {
          return statistics::equivalence_power(error.at(0, draws), contrast.margin, level);
        },
        options.power);
    row.add(report->workload_word, contrast.workload).add("factor", contrast.factor);
    row.add("contrast", contrast.level + " / " + contrast.baseline).add_count("pilot_n", contrast.n);
    row.add("standard_error", contrast.standard_error);
    const auto shown = [](uint64_t n) { return n == 0 ? std::optional<double>() : static_cast<double>(n); };
    row.add("n_for_change", shown(change)).add("n_for_equivalence", shown(same));
    out_of_reach |= change == 0 || same == 0;
    most = std::max({most, change, same});
    rows.push_back(std::move(row));
  }
  if (rows.empty())
    return refused(bad_input("the pilot holds no contrast with an error of its own" +
                             (refusal.empty() ? "; give it two levels and replicates" : ": " + refusal)));
  // Of a sliced pilot the draws are blocks in slices, and a plan's replicates are blocks of both kinds.
  const uint64_t replicates = report->slicing ? report::blocks_for(*report->slicing, most) : most;
  text::Finding finding;
  finding.add("response", primary.name).add("margin", primary.margin).add("alpha", report->alpha);
  finding.add("power", options.power);
  finding.add("questions", questions).add("level_of_each", level);
  if (options.planned > 0) finding.add_count("planned", options.planned);
  finding.add("replicates", out_of_reach ? std::optional<double>() : static_cast<double>(replicates));
  if (options.planned > 0) finding.add_flag("enough", !out_of_reach && options.planned >= replicates);
  if (!options.unknown.empty()) finding.add("not_in_the_pilot", options.unknown);
  finding.add("contrasts", std::move(rows));
  if (options.json) return {finding.json(), "", 0};
  std::string out = finding.text(options.width);
  out += "n: " + report::replicates_word(*report) +
         " of each cell that find a difference as large as the margin, or exclude it, in " +
         std::to_string(static_cast<int>(std::lround(100 * options.power))) + " % of experiments\n";
  if (questions > 1)
    out +=
        "level of each: alpha over the number of questions, which Holm asks of the first; a plan of fewer questions needs "
        "fewer\n";
  if (report->slicing)
    out += "replicates: together with blocks that run alone, in the pilot's share; the spread is that of a block's differences\n";
  if (linked) out += "where code is off a draw is a link: raise link = { seeds = ... } along with replicates\n";
  if (out_of_reach) out += "-: no number up to 10,000,000 does; make trials longer, or the margin wider\n";
  return {out, "", 0};
}

}  // namespace stab::commands
