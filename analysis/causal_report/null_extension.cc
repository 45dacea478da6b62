// How many control trials: the null control's error shrinks with null and baseline windows, of which such a trial has as many
// each. Windows of one trial are alike, so what the error says of a window is what it says of one among those that it was seen
// in; the calibration has trials that differ (docs/explanation/how-often-wrong.md).
#include <algorithm>
#include <cmath>

#include "analysis/causal_report/null_extension.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/text/text_table.h"

namespace stab::causal_report {
namespace {

// No null window would bring a verdict here.
bool is_lost(const CausalCellSummary& cell) {
  return cell.trials < kFewestCausalTrials || cell.windows == 0 || 2 * cell.foreign > cell.windows + cell.foreign;
}

// What null and baseline windows are known to vary by, and how many there are.
struct Known {
  double variance = 0;  // of one window's logarithm
  double nulls = 0, baselines = 0, trials = 0;
  double windows_a_trial = 0;

  double half_width(double more_trials, double alpha) const {
    const double more = more_trials * windows_a_trial / 2;
    if (!(nulls + more > 0) || !(baselines + more > 0)) return INFINITY;
    const double error = std::sqrt(variance * (1 / (nulls + more) + 1 / (baselines + more)));
    return statistics::t_quantile_upper(alpha / 2, trials + more_trials - 1) * error;
  }
};

Known known_of(const NullControl& null, const CausalCellSummary& cell) {
  Known known;
  known.trials = static_cast<double>(cell.trials);
  known.windows_a_trial = static_cast<double>(cell.windows) / known.trials;
  known.variance = cell.spread * cell.spread;
  if (!null.effect.refused.empty()) return known;
  known.nulls = static_cast<double>(null.effect.windows);
  known.baselines = static_cast<double>(null.effect.baselines);
  known.variance = null.effect.standard_error * null.effect.standard_error / (1 / known.nulls + 1 / known.baselines);
  return known;
}

}  // namespace

NullExtension null_extension(const CausalReport& report, uint64_t most, double margin_share) {
  NullExtension out;
  if (report.design.lines.empty()) return out;
  const double margin = report.design.margin, alpha = report.design.alpha;
  for (const NullControl& null : report.nulls) {
    const CausalCellSummary& cell = report.cells[null.cell];
    const bool is_known = null.effect.refused.empty();
    if (null.holds || is_lost(cell)) continue;
    // Shown to be off by more than the margin: further windows would only show it better.
    if (is_known && (null.effect.speedup.low > margin || null.effect.speedup.high < -margin)) continue;
    const Known known = known_of(null, cell);
    if (!(known.variance > 0)) continue;
    const std::string where = "'" + report.design.points[null.point].name + "'" +
                              (report.cells.size() > 1 ? " at " + cell_name(report.design, null.cell) : "");
    const std::string verb = null.effect.windows == 1 ? " null window knows" : " null windows know";
    std::string so_far = "the null control of " + where;
    if (is_known)
      so_far = std::to_string(null.effect.windows) + verb + " " + so_far + " to +- " +
               text::percent(known.half_width(0, alpha), 2);
    else
      so_far += " has too few windows";
    uint64_t trials = 1;
    while (trials < most && known.half_width(static_cast<double>(trials), alpha) > margin_share * margin) ++trials;
    const double reached = known.half_width(static_cast<double>(std::min(trials, most)), alpha);
    if (most > 0 && reached < margin) {
      if (trials > out.trials) {
        out.trials = trials;
        out.why = so_far + ", and the margin is " + text::percent(margin, 2);
      }
    } else if (out.why.empty()) {
      out.why = most == 0 ? so_far + ", and the margin is " + text::percent(margin, 2) +
                                "; whole runs as windows take no control trials: write more replicates or a wider margin"
                          : so_far + ", which " + std::to_string(most) + " control trials would not bring inside the margin of " +
                                text::percent(margin, 2) + "; more replicates, longer runs or a wider margin would";
    }
  }
  return out;
}

}  // namespace stab::causal_report
