// The table of contents is analyse_causal(): windows that count, fits, curves, controls, families of questions, verdicts,
// caveats.
#include "analysis/causal_report/causal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/causal_report/causal_fit.h"
#include "analysis/causal_report/causal_interactions.h"
#include "analysis/report/report_data/settling.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/text/text_table.h"

namespace stab::causal_report {
namespace {

double share_of(double log_effect) { return -std::expm1(-log_effect); }

// The margin in logarithms, for faster and for slower: a share of the time that is saved, or added.
double margin_above(double margin) { return -std::log1p(-margin); }
double margin_below(double margin) { return -std::log1p(margin); }

CausalEffect effect_of(const Result<ArmEstimate>& found, const CausalData& data) {
  CausalEffect out;
  if (!found) {
    out.refused = found.error().message;
    return out;
  }
  out.log_effect = found->log_effect;
  out.standard_error = found->standard_error;
  out.df = found->df;
  out.windows = found->windows;
  out.baselines = found->baselines;
  const double half = statistics::t_quantile_upper(data.alpha / 2, found->df) * found->standard_error;
  out.speedup = {share_of(out.log_effect), share_of(out.log_effect - half), share_of(out.log_effect + half)};
  out.p_value = statistics::t_two_sided(out.log_effect / out.standard_error, out.df);
  const double above = statistics::t_upper((margin_above(data.margin) - out.log_effect) / out.standard_error, out.df);
  const double below = statistics::t_upper((out.log_effect - margin_below(data.margin)) / out.standard_error, out.df);
  out.p_equivalence = std::max(above, below);
  if (!std::isfinite(out.speedup.low) || !std::isfinite(out.speedup.high)) {
    out = {};
    out.refused = "its interval has no end: too few trials or windows";
  }
  return out;
}

constexpr ArmKey kNullWindows{ArmKind::kNull, 0, 0};

// The larger p, of which both are shown where it is small; 1 where they point to opposite sides, or where one has no number.
double p_of_both(const CausalArm& arm) {
  if (!arm.beyond_null.refused.empty() || (arm.effect.log_effect > 0) != (arm.beyond_null.log_effect > 0)) return 1;
  return std::max(arm.effect.p_value, arm.beyond_null.p_value);
}
double p_equivalence_of_both(const CausalArm& arm) {
  return arm.beyond_null.refused.empty() ? std::max(arm.effect.p_equivalence, arm.beyond_null.p_equivalence) : 1;
}

bool inside(const report::Interval& speedup, double margin) { return speedup.low > -margin && speedup.high < margin; }

// A slope is an effect by the line's own speedup: the derivative of the share by the logarithm is exp(-effect).
Tangent tangent_of(const ArmEstimate& found, double by) {
  Tangent out{share_of(found.log_effect) / by, found.df, found.scores};
  for (double& score : out.scores) score *= std::exp(-found.log_effect) / by;
  return out;
}
double error_of(const std::vector<double>& scores) {
  double squares = 0;
  for (const double score : scores) squares += score * score;
  return std::sqrt(squares);
}
CausalSlope slope_of(const Tangent& tangent, double alpha) {
  CausalSlope out;
  out.standard_error = error_of(tangent.scores);
  out.df = tangent.df;
  const double half = statistics::t_quantile_upper(alpha / 2, out.df) * out.standard_error;
  out.slope = {tangent.value, tangent.value - half, tangent.value + half};
  return out;
}

class Analysis {
 public:
  Analysis(const CausalData& data, uint64_t splits) : data_(data), splits_(splits) {}

  CausalReport run() {
    report_.design = data_;
    report_.design.windows.clear();
    const auto cells = static_cast<uint32_t>(data_.cells.size());
    for (uint32_t cell = 0; cell < cells; ++cell) {
      report_.cells.emplace_back();
      counted_.push_back(windows_that_count(data_, cell, report_.cells[cell]));
      summarize(cell);
    }
    for (uint32_t point = 0; point < data_.points.size(); ++point)
      for (uint32_t cell = 0; cell < cells; ++cell) look_at(cell, point);
    adjust_kinks();
    withhold();
    adjust_interactions();
    judge(false);
    judge(true);
    for (CausalCurve& curve : report_.curves) sum_up(curve);
    report_.saturations = saturations_of(data_);
    return std::move(report_);
  }

 private:
  void summarize(uint32_t cell) {
    CausalCellSummary& summary = report_.cells[cell];
    double lengthened = 0;
    for (const CausalTrial& trial : data_.trials) {
      if (trial.cell != cell) continue;
      ++(trial.excluded.empty() ? summary.trials : summary.excluded_trials);
      if (trial.excluded.empty()) lengthened += trial.lengthened_share;
    }
    if (summary.trials) summary.lengthened = lengthened / static_cast<double>(summary.trials);
    summary.without_visits.assign(data_.points.size(), 0);
    for (uint32_t point = 0; point < data_.points.size(); ++point)
      for (const size_t w : counted_[cell]) summary.without_visits[point] += data_.windows[w].visits[point] == 0;
  }

  bool too_few_visits(uint32_t cell, uint32_t point) const {
    const CausalCellSummary& summary = report_.cells[cell];
    return static_cast<double>(summary.without_visits[point]) > kMostWithoutVisits * static_cast<double>(summary.windows);
  }

  void look_at(uint32_t cell, uint32_t point) {
    const Result<CausalFit> fit = CausalFit::of(data_, point, counted_[cell]);
    if (!fit) return;
    if (point == 0) report_.cells[cell].spread = fit->spread();
    if (data_.loads) return;  // what is asked of it is in saturations
    if (data_.points[point].kind == PointKind::kArrival) return check_loop(cell, point);

    NullControl null;
    null.cell = cell, null.point = point;
    null.effect = effect_of(fit->arm({ArmKind::kNull, 0, 0}), data_);
    if (null.effect.refused.empty()) {
      null.holds = inside(null.effect.speedup, data_.margin);
      null.biased = !null.holds && (null.effect.speedup.low > 0 || null.effect.speedup.high < 0);
      if (!null.holds && !null.biased)
        null.settles_windows = settling_windows(null.effect, cell, {data_.alpha, data_.alpha, data_.alpha / 2});
    }
    report_.nulls.push_back(std::move(null));

    if (fit->clusters() >= kFewestCausalTrials && data_.points[point].kind == PointKind::kProgress) {
      CausalAA aa{cell, point, 0, 0};
      for (uint64_t split = 0; split < splits_; ++split) {
        const auto p = fit->split_baselines(split + 1);
        if (!p) continue;
        ++aa.splits;
        aa.alarms += *p < data_.alpha;
      }
      if (aa.splits) report_.aa.push_back(aa);
    }

    std::map<uint32_t, uint64_t> skipped;
    for (const CausalWindow& window : data_.windows)
      if ((window.flags & bit(WindowFlag::kSkipped)) && window.line && data_.trials[window.trial].cell == cell &&
          data_.trials[window.trial].excluded.empty())
        ++skipped[*window.line];
    for (uint32_t line = 0; line < data_.lines.size(); ++line) {
      CausalCurve curve;
      curve.cell = cell, curve.point = point, curve.line = line;
      curve.exploratory = !data_.lines[line].candidate;
      curve.skipped = skipped.count(line) ? skipped[line] : 0;
      draw(*fit, curve);
      if (!curve.arms.empty()) report_.curves.push_back(std::move(curve));
    }
  }

  // Windows come with trials, which are what errors are counted in.
  std::optional<uint64_t> settling_windows(const CausalEffect& effect, uint32_t cell,
                                           const report::SettlingLevels& levels) const {
    const uint64_t trials = report_.cells[cell].trials;
    if (trials < 2 || !(effect.standard_error > 0)) return std::nullopt;
    const double margin = effect.log_effect < 0 ? -margin_below(data_.margin) : margin_above(data_.margin);
    const auto settled =
        report::settling_replicates(effect.log_effect, {effect.standard_error, effect.df, trials}, margin, levels);
    if (!settled) return std::nullopt;
    return static_cast<uint64_t>(
        std::ceil(static_cast<double>(effect.windows) * static_cast<double>(*settled) / static_cast<double>(trials)));
  }

  // Refused ones are none.
  std::optional<ArmEstimate> estimate(const CausalFit& fit, const ArmKey& key, CausalCurve& curve, std::string* refused,
                                      const ArmKey& reference = {}) {
    const bool phase = curve.skipped > 0 && data_.points[curve.point].kind == PointKind::kProgress;
    Result<ArmEstimate> found = phase ? fit.arm_of_phase(key, &curve.phase_share, reference) : fit.arm(key, reference);
    curve.phase_corrected = curve.phase_corrected || (phase && found);
    if (found) return *found;
    if (refused) *refused = found.error().message;
    return std::nullopt;
  }

  void draw(const CausalFit& fit, CausalCurve& curve) {
    std::optional<Tangent> faster, slower;
    for (const ArmKey& key : fit.arms()) {
      if (key.line != curve.line || (key.kind != ArmKind::kSpeedup && key.kind != ArmKind::kSlowdown)) continue;
      std::string refused;
      const auto found = estimate(fit, key, curve, &refused);
      if (key.kind == ArmKind::kSlowdown) {
        if (found && !slower) slower = tangent_of(*found, -key.speedup);
        continue;
      }
      CausalArm arm;
      arm.speedup = key.speedup;
      std::optional<ArmEstimate> beyond;
      if (found) {
        arm.effect = effect_of(*found, data_);
        std::string alone;
        beyond = estimate(fit, key, curve, &alone, kNullWindows);
        if (beyond) arm.beyond_null = effect_of(*beyond, data_);
        else arm.beyond_null.refused = alone;
        if (!faster && arm.effect.refused.empty()) faster = tangent_of(*found, key.speedup);
      } else {
        arm.effect.refused = refused;
      }
      if (arm.effect.refused.empty() &&
          (!curve.best || arm.effect.speedup.estimate > curve.arms[*curve.best].effect.speedup.estimate))
        curve.best = curve.arms.size();
      if (found) keep(curve, arm.speedup, *found, beyond);
      curve.arms.push_back(std::move(arm));
    }
    if (faster) curve.slope = slope_of(*faster, data_.alpha);
    if (slower) curve.slowdown_slope = slope_of(*slower, data_.alpha);
    if (faster && slower && faster->scores.size() == slower->scores.size()) {
      for (size_t c = 0; c < faster->scores.size(); ++c) faster->scores[c] -= slower->scores[c];
      const double error = error_of(faster->scores);
      if (error > 0)
        curve.kink_p = statistics::t_two_sided((faster->value - slower->value) / error, std::min(faster->df, slower->df));
    }
    layouts(curve);
  }

  // The same arm in the first cell and in another.
  void keep(const CausalCurve& curve, double speedup, const ArmEstimate& found, const std::optional<ArmEstimate>& beyond) {
    ArmInCell here{tangent_of(found, 1), std::nullopt};
    if (beyond) here.beyond_null = tangent_of(*beyond, 1);
    const auto key = std::tuple(curve.point, curve.line, speedup);
    if (curve.cell == 0) {
      first_cell_.emplace(key, std::move(here));
      return;
    }
    const auto first = first_cell_.find(key);
    if (first == first_cell_.end()) return;
    CausalInteraction out;
    out.cell = curve.cell, out.point = curve.point, out.line = curve.line, out.speedup = speedup;
    out.exploratory = curve.exploratory;
    compare_cells(first->second, here, data_.alpha, out);
    report_.interactions.push_back(out);
  }

  void layouts(const CausalCurve& curve) {
    if (data_.points[curve.point].kind != PointKind::kProgress) return;
    for (const CausalArm& arm : curve.arms)
      if (const auto found = layout_interaction(data_, counted_[curve.cell], curve, arm.speedup))
        report_.layout_interactions.push_back(*found);
  }

  void check_loop(uint32_t cell, uint32_t point) {
    // Real time: nothing is credited where the line alone is slowed down.
    const Result<CausalFit> fit = CausalFit::of(data_, point, counted_[cell]);
    if (!fit) return;
    std::vector<ArmKey> slow;
    for (const ArmKey& key : fit->arms())
      if (key.kind == ArmKind::kSlowdown) slow.push_back(key);
    if (slow.empty()) return;
    LoopCheck check{cell, point, effect_of(fit->mean_of(slow), data_), false};
    check.closed = check.effect.refused.empty() && check.effect.p_value < data_.alpha && check.effect.log_effect < 0;
    report_.loops.push_back(std::move(check));
  }

  void adjust_kinks() {
    std::vector<double> p;
    for (const CausalCurve& curve : report_.curves)
      if (curve.slope && curve.slowdown_slope) p.push_back(curve.kink_p);
    const std::vector<double> adjusted = statistics::holm(p);
    size_t next = 0;
    for (CausalCurve& curve : report_.curves) {
      if (!curve.slope || !curve.slowdown_slope) continue;
      curve.kink_p = adjusted[next++];
      curve.kink_or_bias = curve.kink_p < data_.alpha;
    }
  }

  // Candidates and others in families of their own, as their verdicts are.
  void adjust_interactions() {
    const auto adjust = [](auto& rows, auto p_of) {
      for (const bool exploratory : {false, true}) {
        std::vector<double> p;
        for (const auto& row : rows)
          if (row.exploratory == exploratory) p.push_back(p_of(row));
        const std::vector<double> adjusted = statistics::holm(p);
        size_t next = 0;
        for (auto& row : rows)
          if (row.exploratory == exploratory) row.p_holm = adjusted[next++];
      }
    };
    adjust(report_.interactions, [](const CausalInteraction& each) { return each.p_holm; });
    adjust(report_.layout_interactions, [](const LayoutInteraction& each) { return each.p_value; });
    for (CausalInteraction& each : report_.interactions)
      each.withheld = !may_judge(0, each.point) || !may_judge(each.cell, each.point);
  }

  // Reasons to give no verdict, first by cell, then by point.
  void withhold() {
    for (uint32_t cell = 0; cell < data_.cells.size(); ++cell) {
      CausalCellSummary& summary = report_.cells[cell];
      const auto say = [&](std::string reason) {
        if (summary.withheld.empty()) summary.withheld = std::move(reason);
      };
      if (data_.incomplete) say("the experiment is not finished");
      if (summary.foreign > 0 && 2 * summary.foreign > summary.windows + summary.foreign)
        say("other programs ran in more than half of the windows");
      if (summary.trials < kFewestCausalTrials)
        say("verdicts need " + std::to_string(kFewestCausalTrials) + (data_.whole_runs ? " blocks of runs" : " trials") +
            ", there " + (summary.trials == 1 ? "is 1" : "are " + std::to_string(summary.trials)));
      for (const NullControl& null : report_.nulls)
        if (null.cell == cell && null.biased)
          say("pausing itself changes '" + data_.points[null.point].name + "' by " +
              text::ratio_text(1 + null.effect.speedup.estimate));
      for (const LoopCheck& check : report_.loops)
        if (check.cell == cell && check.closed && !data_.closed_loop && has_load()) say("its arrivals follow its departures");
    }
  }
  bool has_load() const {
    return std::any_of(data_.cells.begin(), data_.cells.end(), [](const CausalCell& cell) { return cell.load != 1; });
  }

  bool may_judge(uint32_t cell, uint32_t point) const {
    if (!report_.cells[cell].withheld.empty() || too_few_visits(cell, point)) return false;
    return std::any_of(report_.nulls.begin(), report_.nulls.end(),
                       [&](const NullControl& null) { return null.cell == cell && null.point == point && null.holds; });
  }

  // Lines x speedups x points x cells, candidates and others in families of their own.
  void judge(bool exploratory) {
    std::vector<CausalArm*> family;
    std::vector<const CausalCurve*> curve_of;
    for (CausalCurve& curve : report_.curves) {
      if (curve.exploratory != exploratory) continue;
      for (CausalArm& arm : curve.arms)
        if (arm.effect.refused.empty()) family.push_back(&arm), curve_of.push_back(&curve);
    }
    std::vector<double> p, equivalence;
    std::vector<double> alone;  // as if nobody had asked the null windows
    for (const CausalArm* arm : family) {
      p.push_back(p_of_both(*arm)), equivalence.push_back(p_equivalence_of_both(*arm));
      alone.push_back(arm->effect.p_value);
    }
    const std::vector<double> adjusted = statistics::holm(p), adjusted_equivalence = statistics::holm(equivalence),
                              adjusted_alone = statistics::holm(alone);
    const auto open = [&](const std::vector<double>& values) {
      const auto count = std::count_if(values.begin(), values.end(), [&](double value) { return value >= data_.alpha; });
      return static_cast<double>(std::max<ptrdiff_t>(1, count));
    };
    // What Holm's last step asks where only the baselines are: an arm whose larger p keeps below it fails by the nulls of others.
    const auto open_alone =
        std::count_if(adjusted_alone.begin(), adjusted_alone.end(), [&](double value) { return value >= data_.alpha; });
    const double last_step = data_.alpha / (static_cast<double>(open_alone) + 1);
    const double open_changes = open(adjusted), open_equivalences = open(adjusted_equivalence);
    for (size_t i = 0; i < family.size(); ++i) {
      CausalArm& arm = *family[i];
      arm.p_holm = adjusted[i];
      arm.p_equivalence_holm = adjusted_equivalence[i];
      if (!may_judge(curve_of[i]->cell, curve_of[i]->point)) continue;
      arm.verdict = report::Verdict::kUnsure;
      if (arm.p_equivalence_holm < data_.alpha) {
        arm.verdict = report::Verdict::kEquivalent;
      } else if (arm.p_holm < data_.alpha && is_change(arm.effect) && is_change(arm.beyond_null)) {
        arm.verdict = report::Verdict::kChanged;
      } else {
        // By the one of the two that says less.
        const CausalEffect& less =
            arm.beyond_null.refused.empty() && arm.beyond_null.p_value > arm.effect.p_value ? arm.beyond_null : arm.effect;
        arm.settles_windows = settling_windows(
            less, curve_of[i]->cell, {data_.alpha / open_changes, data_.alpha, data_.alpha / open_equivalences});
        arm.by_pausing = arm.beyond_null.refused.empty() && adjusted_alone[i] < data_.alpha && is_change(arm.effect) &&
                         (p_of_both(arm) >= last_step || !is_change(arm.beyond_null));
      }
    }
  }

  bool is_change(const CausalEffect& effect) const {
    return effect.refused.empty() && (effect.speedup.low > 0 || effect.speedup.high < 0) && !inside(effect.speedup, data_.margin);
  }

  void sum_up(CausalCurve& curve) {
    bool better = false, worse = false, judged = false;
    size_t equivalent = 0;
    for (const CausalArm& arm : curve.arms) {
      judged = judged || arm.verdict != report::Verdict::kWithheld;
      equivalent += arm.verdict == report::Verdict::kEquivalent;
      if (arm.verdict == report::Verdict::kChanged) (arm.effect.log_effect > 0 ? better : worse) = true;
    }
    if (better) curve.verdict = LineVerdict::kWorthIt;
    else if (worse) curve.verdict = LineVerdict::kHarmful;
    else if (judged && equivalent == data_.speedups.size()) curve.verdict = LineVerdict::kNoUse;
    else if (judged) curve.verdict = LineVerdict::kUnsure;
  }

  const CausalData& data_;
  uint64_t splits_ = 0;
  CausalReport report_;
  std::vector<std::vector<size_t>> counted_;  // by cell
  std::map<std::tuple<uint32_t, uint32_t, double>, ArmInCell> first_cell_;
};

}  // namespace

std::string_view name(LineVerdict verdict) {
  constexpr std::array<std::string_view, 5> kWords{"worth it", "harmful", "no use", "unsure", "withheld"};
  return kWords[static_cast<size_t>(verdict)];
}

std::string cell_name(const CausalData& design, uint32_t cell) {
  std::string out;
  if (design.cells.size() < 2) return out;
  for (size_t f = 0; f < design.factors.size(); ++f)
    out += (f ? ", " : "") + design.factors[f] + "=" + design.cells[cell].levels[f];
  return out;
}

Result<CausalReport> analyse_causal(const CausalData& data, uint64_t splits) {
  if (const auto fault = fault_of(data)) return bad_input(*fault);
  CausalReport report = Analysis(data, splits).run();
  add_caveats(report);
  return report;
}

}  // namespace stab::causal_report
