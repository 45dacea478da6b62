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

Status check_question(const report::Samples& pilot, const PowerOptions& options) {
  if (!(options.power > 0 && options.power < 1))
    return bad_input("the power must lie between 0 and 1: 0.8 finds the difference in four of five experiments");
  if (options.is_sliced && *options.is_sliced != pilot.is_sliced)
    return bad_input(std::string("the plan runs its blocks ") + (pilot.is_sliced ? "one trial after the other" : "in slices") +
                     " and the pilot ran them " + (pilot.is_sliced ? "in slices" : "one trial after the other") +
                     ": their spreads differ by an order of magnitude; run a pilot of the plan's kind");
  return {};
}

// The pilot's report with the margin that is asked about. Its spread is asked for, not its verdicts.
Result<report::Report> report_of_pilot(const report::Samples& pilot, const PowerOptions& options) {
  report::Samples samples = pilot;
  samples.incomplete = false;
  samples.stopping = {};
  if (options.margin && !samples.responses.empty()) samples.responses[0].margin = *options.margin;
  STAB_TRY(report::Report report, report::analyse(samples));
  if (!(report.responses[0].margin > 0))
    return bad_input("the plan declares no margin; say margin = \"1%\" in [experiment], or --margin");
  return report;
}

// The draws that the pilot's contrasts take.
struct Needs {
  std::vector<text::Finding> rows;
  uint64_t most = 0;
  bool out_of_reach = false, linked = false;
};

// `level`: of each question
Result<Needs> needs_of(const report::Report& report, double power, double level) {
  Needs out;
  std::string refusal;
  for (const report::Contrast& contrast : report.contrasts) {
    if (contrast.response != report.responses[0].name || contrast.workload.empty()) continue;
    if (!contrast.refused.empty()) {
      refusal = contrast.refused;
      continue;
    }
    if (contrast.by_alone) {
      refusal = "slicing changes what differs, so that blocks alone answer it: plan such, by a pilot of such";
      continue;
    }
    out.linked |= contrast.by_link;
    const auto of_change = [&](const report::KnownError& error, uint64_t draws) {
      return statistics::change_power(error.at(contrast.margin, draws), level);
    };
    const auto of_equivalence = [&](const report::KnownError& error, uint64_t draws) {
      return statistics::equivalence_power(error.at(0, draws), contrast.margin, level);
    };
    const uint64_t change = needed(contrast, of_change, power), same = needed(contrast, of_equivalence, power);
    text::Finding row;
    row.add(report.workload_word, contrast.workload).add("factor", contrast.factor);
    row.add("contrast", contrast.level + " / " + contrast.baseline).add_count("pilot_n", contrast.n);
    row.add("standard_error", contrast.standard_error);
    const auto shown = [](uint64_t n) { return n == 0 ? std::optional<double>() : static_cast<double>(n); };
    row.add("n_for_change", shown(change)).add("n_for_equivalence", shown(same));
    out.out_of_reach |= change == 0 || same == 0;
    out.most = std::max({out.most, change, same});
    out.rows.push_back(std::move(row));
  }
  if (out.rows.empty())
    return bad_input("the pilot holds no contrast with an error of its own" +
                     (refusal.empty() ? "; give it two levels and replicates" : ": " + refusal));
  return out;
}

// What the table's words mean, below it.
std::string notes_of(const report::Report& report, const Needs& needs, double power, double questions) {
  std::string out = "n: " + report::replicates_word(report) +
                    " of each cell that find a difference as large as the margin, or exclude it, in " +
                    std::to_string(static_cast<int>(std::lround(100 * power))) + " % of experiments\n";
  if (questions > 1)
    out +=
        "level of each: alpha over the number of questions, which Holm asks of the first; a plan of fewer questions needs "
        "fewer\n";
  if (report.slicing)
    out += "replicates: together with blocks that run alone, in the pilot's share; the spread is that of a block's differences\n";
  if (needs.linked) out += "where code is off a draw is a link: raise link = { seeds = ... } along with replicates\n";
  if (needs.out_of_reach) out += "-: no number up to 10,000,000 does; make trials longer, or the margin wider\n";
  return out;
}

}  // namespace

CommandOutput run_power(const report::Samples& pilot, const PowerOptions& options) {
  if (const Status good = check_question(pilot, options); !good) return refused(good.error());
  const Result<report::Report> report = report_of_pilot(pilot, options);
  if (!report) return refused(report.error());
  // Holm asks this of the smallest p, and less of those after it: n is enough whatever the other questions turn out to be.
  const double questions = family_size(*report, pilot.workloads.size(), options);
  const double level = report->alpha / std::max(1.0, questions);
  Result<Needs> needs = needs_of(*report, options.power, level);
  if (!needs) return refused(needs.error());
  // Of a sliced pilot the draws are blocks in slices, and a plan's replicates are blocks of both kinds.
  const uint64_t replicates = report->slicing ? report::blocks_for(*report->slicing, needs->most) : needs->most;
  const report::Response& primary = report->responses[0];
  text::Finding finding;
  finding.add("response", primary.name).add("margin", primary.margin).add("alpha", report->alpha);
  finding.add("power", options.power);
  finding.add("questions", questions).add("level_of_each", level);
  if (options.planned > 0) finding.add_count("planned", options.planned);
  finding.add("replicates", needs->out_of_reach ? std::optional<double>() : static_cast<double>(replicates));
  if (options.planned > 0) finding.add_flag("enough", !needs->out_of_reach && options.planned >= replicates);
  if (!options.unknown.empty()) finding.add("not_in_the_pilot", options.unknown);
  finding.add("contrasts", std::move(needs->rows));
  if (options.json) return {finding.json(), "", 0};
  return {finding.text(options.width) + notes_of(*report, *needs, options.power, questions), "", 0};
}

}  // namespace stab::commands
