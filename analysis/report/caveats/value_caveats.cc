// What the values themselves make doubtful: their order, their shape, changes within the run, and where means and ranks
// disagree.
#include "analysis/report/caveats/caveat_checks.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/report/conditions/modes.h"
#include "analysis/report/conditions/run_changes.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/families/multiplicity.h"

namespace stab::report {
namespace {

// Smallest p after Holm among the primary response's diagnostics by these tests.
const Diagnostic* worst_of(const Report& report, Tests tests) {
  std::vector<const Diagnostic*> members;
  std::vector<double> p_values;
  for (const Diagnostic& diagnostic : report.diagnostics) {
    const bool asked = std::find(tests.begin(), tests.end(), diagnostic.name) != tests.end();
    if (!asked || diagnostic.response != report.responses[0].name || !diagnostic.p_value) continue;
    members.push_back(&diagnostic);
    p_values.push_back(*diagnostic.p_value);
  }
  const std::vector<double> adjusted = statistics::holm(p_values);
  const Diagnostic* worst = nullptr;
  double smallest = report.alpha;
  for (size_t i = 0; i < members.size(); ++i) {
    if (adjusted[i] >= smallest) continue;
    smallest = adjusted[i];
    worst = members[i];
  }
  return worst;
}

}  // namespace

void check_diagnostic(const Report& report, Tests tests, CaveatCode code, std::string_view message, std::string_view hint,
                      Caveats& out) {
  const Diagnostic* worst = worst_of(report, tests);
  if (!worst) return;
  out.push_back({code,
                 (worst->workload.empty() ? "" : worst->workload + ": ") + std::string(message) + " (" +
                     worst->statistic_name + " = " + three_digits(worst->statistic) + ", p = " + three_digits(*worst->p_value) +
                     ")",
                 std::string(hint)});
}

// Where the order within blocks was drawn, what lasts from trial to trial falls on all cells alike: intervals hold
// (docs/explanation/how-often-wrong.md, "How often are we wrong"). Plain rows have no such order, and trials of a sliced block
// have none either.
void check_autocorrelation(const Samples& samples, const Report& report, Caveats& out) {
  const Diagnostic* worst = worst_of(report, {"lag-1 autocorrelation"});
  if (!worst) return;
  if (samples.is_sliced) {
    const double widens = std::sqrt(std::max(0.0, (1 + worst->statistic) / (1 - std::min(worst->statistic, 0.99))));
    check_diagnostic(report, {worst->name}, CaveatCode::kAutocorrelation,
                     worst->statistic > 0 ? "a sliced block's differences resemble those of the block before"
                                          : "a sliced block's differences are opposite to those of the block before",
                     worst->statistic > 0 ? "trials at the same time have no random order to correct that: intervals should be " +
                                               three_digits(widens) + " times as wide; find what lasts from block to block"
                                          : "intervals are wider than they need be; find what alternates from block to block",
                     out);
    return;
  }
  const bool alike = worst->statistic > 0, drawn = samples.unit == Unit::kLayout;
  check_diagnostic(
      report, {worst->name}, CaveatCode::kAutocorrelation,
      alike ? "a trial resembles the one before it" : "a trial tends to be opposite to the one before it",
      drawn   ? std::string("intervals hold, because the order ") + (has_blocks(samples) ? "within blocks " : "") +
                  "is random; find what lasts from trial to trial"
      : alike ? "if rows are in order of time, intervals are too narrow; randomize the order, and compare within blocks"
              : "if rows are in order of time, intervals are too wide or two kinds of rows alternate; look at the sequence",
      out);
}

// Of the primary response, or of the first one that has such cells: the cell that is furthest from one hump.
void check_several_modes(const Report& report, Caveats& out) {
  for (const Response& response : report.responses) {
    const Cell* worst = nullptr;
    uint64_t cells = 0, tested = 0;
    for (const Cell& cell : report.cells) {
      if (cell.response != response.name) continue;
      tested += cell.dip.has_value();
      if (cell.modes.empty()) continue;
      ++cells;
      if (!worst || *cell.dip > *worst->dip) worst = &cell;
    }
    if (!worst) continue;
    out.push_back({CaveatCode::kSeveralModes,
                   cell_text(report, *worst) + ": " + response.name + " falls into " + modes_text(response, *worst) +
                       " (dip = " + three_digits(*worst->dip) + ", p = " + three_digits(*worst->dip_p_holm) +
                       (tested > 1 ? " after Holm over " + std::to_string(tested) + " cells" : "") + ")" +
                       (cells > 1 ? "; " + plural(cells - 1, "more cell") + " likewise" : ""),
                   "a mean between groups describes none of them: see in the plots whether layouts cause them ('stabctl replay' "
                   "of a trial stays in its group) or moments (a group is a stretch of the run)"});
    return;
  }
}

void check_run_changed(const Report& report, Caveats& out) {
  const RunChanges* first = nullptr;
  size_t changes = 0;
  for (const RunChanges& run : report.run_changes) {
    if (run.changes.empty() || (first && run.response != first->response)) continue;
    if (!first) first = &run;
    changes += run.changes.size();
  }
  if (!first) return;
  size_t strongest = 0;
  for (size_t i = 1; i < first->changes.size(); ++i)
    if (first->changes[i].statistic > first->changes[strongest].statistic) strongest = i;
  out.push_back({CaveatCode::kRunChanged,
                 "the run changes" + (first->machine.empty() ? "" : " on " + first->machine) + ": " + first->response + " " +
                     run_change_text(response_of(report, first->response), *first, strongest) +
                     (changes > 1 ? "; " + plural(changes - 1, "more change") : ""),
                 std::string(first->has_blocks ? "blocks remove what affects all cells alike"
                                               : "without blocks it widens the intervals; order = \"blocks\" would remove it") +
                     "; find in the run's plot what the machine did before you trust small effects"});
}

// Where means and ranks answer differently, tails or outliers carry the answer. Ranks of so few values that they never answer say
// nothing of that.
void check_ranks(const Report& report, Caveats& out) {
  const Contrast* first = nullptr;
  uint64_t disagree = 0;
  for (const Contrast& contrast : report.contrasts) {
    if (!contrast.p_rank || (contrast.p_value < report.alpha) == (*contrast.p_rank < report.alpha)) continue;
    if (contrast.least_p_rank >= report.alpha) continue;
    if (contrast.response != report.responses[0].name) continue;
    if (disagree++ == 0) first = &contrast;
  }
  if (!first) return;
  out.push_back({CaveatCode::kRanksDisagree,
                 first->workload + ", " + first->factor + " " + first->level + " / " + first->baseline +
                     ": means say p = " + three_digits(first->p_value) + ", ranks p = " + three_digits(*first->p_rank) +
                     (disagree > 1 ? "; " + std::to_string(disagree - 1) + " more disagree" : ""),
                 "look for tails and outliers in the strip figure before believing either"});
}

}  // namespace stab::report
