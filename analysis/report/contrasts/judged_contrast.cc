// An estimate in people's units, its p-values after those of its family, its verdict, and what would settle it.
#include "analysis/report/contrasts/judged_contrast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "analysis/report/report_data/settling.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"

namespace stab::report {
namespace {

// The two one-sided tests against the margin.
void add_equivalence(Contrast& contrast, const LookLevels& levels, const ContrastEstimate& estimate) {
  if (estimate.share) {
    if (!estimate.plus || !estimate.minus) return;  // the error of the margin can't be had: nothing is shown
    contrast.p_not_below = JudgedEstimate(levels, *estimate.plus, estimate.plus_draws).p_above(0);
    contrast.p_not_above = JudgedEstimate(levels, *estimate.minus, estimate.minus_draws).p_below(0);
  } else {
    const JudgedEstimate judged(levels, estimate.test, estimate.draws);
    contrast.p_not_below = judged.p_above(-contrast.margin);
    contrast.p_not_above = judged.p_below(contrast.margin);
  }
  contrast.p_equivalence = contrast.p_equivalence_holm = std::max(contrast.p_not_below, contrast.p_not_above);
}

}  // namespace

Contrast describe_contrast(const Samples& samples, const LookLevels& levels, size_t response, size_t factor, uint32_t level,
                           ContrastEstimate& estimate) {
  const Response& facts = samples.responses[response];
  Contrast contrast;
  contrast.response = facts.name;
  contrast.factor = samples.factors[factor].name;
  contrast.level = samples.factors[factor].levels[level];
  contrast.baseline = samples.factors[factor].levels[samples.factors[factor].baseline];
  contrast.scale = facts.scale;
  contrast.layout = samples.factors[factor].layout;
  contrast.one_layout_a_side = estimate.one_layout;
  contrast.refused = estimate.refused;
  contrast.aliases = estimate.aliases;
  if (!estimate.refused.empty()) return contrast;
  const statistics::TTest& test = estimate.test;
  const JudgedEstimate judged(levels, test, estimate.draws);
  if (levels.bounded()) estimate.ends = judged.interval();
  if (!levels.bounded() || (levels.is_sequence() && !(std::isfinite(estimate.ends.low) && std::isfinite(estimate.ends.high)))) {
    contrast.refused = "too few replicates for a bounded interval of the confidence sequence";
    return contrast;
  }
  const JudgedEstimate::Ends narrow = judged.equivalence();
  const auto shown = [&](double x) { return to_people(facts.scale, x); };
  contrast.interval = {shown(test.estimate), shown(estimate.ends.low), shown(estimate.ends.high)};
  contrast.equivalence = {contrast.interval.estimate, shown(narrow.low), shown(narrow.high)};
  for (const double number : {contrast.interval.estimate, contrast.interval.low, contrast.interval.high, contrast.equivalence.low,
                              contrast.equivalence.high, test.standard_error, test.df, test.p_value}) {
    if (std::isfinite(number)) continue;
    contrast.refused = "its interval is beyond what a double holds; rescale the response";
    return contrast;
  }
  contrast.baseline_mean = estimate.level;
  contrast.margin = margin_on_scale(facts, estimate.level);
  contrast.standard_error = test.standard_error;
  contrast.df = test.df;
  contrast.n = estimate.n;
  contrast.p_value = judged.p();
  contrast.p_holm = contrast.p_value;
  add_equivalence(contrast, levels, estimate);
  if (estimate.p_rank) contrast.p_rank = levels.p(*estimate.p_rank);
  contrast.least_p_rank = levels.p(estimate.least_p_rank);
  contrast.blocked = estimate.blocked;
  contrast.blocks_left_out = estimate.blocks_left_out;
  contrast.by_link = estimate.by_link;
  return contrast;
}

namespace {

// Wall time of all trials so far, and whether a fixed number of blocks may be added to them.
struct Extension {
  std::optional<double> seconds;  // absent: the rows have no times of a machine
  bool possible = false;
};

// Of plans whose rule sets the number of replicates none can be added; a confidence sequence comes to its last by itself.
Extension extension_of(const Samples& samples) {
  Extension out;
  if (samples.unit != Unit::kLayout) return out;
  const Stopping& stopping = samples.stopping;
  out.possible = stopping.rule == StoppingRule::kFixed ||
                 (stopping.rule == StoppingRule::kSequence && replicates_of(samples) >= stopping.max);
  if (!samples.simulated.empty()) return out;
  for (size_t r = 0; r < samples.responses.size(); ++r) {
    // What a sliced block takes is the CPU time of its trials.
    if (samples.responses[r].name != (samples.is_sliced ? "cpu_time" : "wall_time") || samples.responses[r].unit != "s") continue;
    double seconds = 0;
    for (const Trial& trial : samples.trials) seconds += trial.values[r].value_or(0);
    if (seconds > 0) out.seconds = seconds;
  }
  return out;
}

// What would settle it, and what that takes.
class Settling {
 public:
  Settling(const Samples& samples, const LookLevels& levels)
      : samples_(samples), levels_(levels), replicates_(replicates_of(samples)), extension_(extension_of(samples)) {}

  // changes, equivalences: of the family, that are still open: Holm's level for what more replicates must reach.
  void of(const ContrastEstimate& estimate, double changes, double equivalences, Contrast& contrast) const {
    const statistics::TTest& test = estimate.test;
    if (!(test.standard_error > 0)) return;
    const KnownError error{test.standard_error, test.df, estimate.n, samples_.stopping.rule != StoppingRule::kPrecision};
    // Bets make intervals wider than the sequence's t does, by so much.
    const double t = statistics::t_quantile_upper(levels_.interval() / 2, test.df);
    const double widened = std::max(1.0, (estimate.ends.high - estimate.ends.low) / 2 / test.standard_error / t);
    const auto levels_at = [&](uint64_t n, double of_changes, double of_equivalences) {
      const LookLevels levels = levels_after(static_cast<double>(n) / static_cast<double>(error.n));
      const double df = error.df_at(static_cast<double>(n));
      const auto wider = [&](double two_sided) {
        return levels.is_sequence() ? statistics::t_two_sided(widened * statistics::t_quantile_upper(two_sided / 2, df), df)
                                    : two_sided;
      };
      return SettlingLevels{wider(levels.interval()) / of_changes, wider(levels.interval()),
                            wider(levels.equivalence()) / 2 / of_equivalences};
    };
    contrast.settles_n = settling_replicates(test.estimate, error, contrast.margin, [&](uint64_t n) {
      return levels_at(n, changes, equivalences);
    });
    const bool higher_is_better = response_of(contrast).higher_is_better;
    contrast.settles_worse_n =
        settling_worse(higher_is_better ? -test.estimate : test.estimate, error, contrast.margin,
                       [&](uint64_t n) { return levels_at(n, changes, 1); });
    if (!contrast.settles_n) return;
    const double more = static_cast<double>(*contrast.settles_n - error.n) / static_cast<double>(error.n);
    if (extension_.seconds) contrast.settles_seconds = more * *extension_.seconds;
    if (extension_.possible && !contrast.by_link && is_worth_running(contrast))
      contrast.settles_blocks = static_cast<uint64_t>(std::ceil(more * replicates_ - 1e-9));
  }

 private:
  const Response& response_of(const Contrast& contrast) const {
    return *std::find_if(samples_.responses.begin(), samples_.responses.end(),
                         [&](const Response& response) { return response.name == contrast.response; });
  }
  LookLevels levels_after(double times) const {
    if (!levels_.is_sequence()) return levels_;
    constexpr double kMost = 4e9;
    return LookLevels::in_sequence(static_cast<uint32_t>(std::min(kMost, std::max(2.0, std::round(times * replicates_)))),
                                   narrowest_replicates(samples_.stopping), samples_.alpha);
  }

  const Samples& samples_;
  const LookLevels& levels_;
  double replicates_;
  Extension extension_;
};

}  // namespace

void judge_family(const Samples& samples, const LookLevels& levels, const std::vector<FamilyMember*>& family, bool settles) {
  std::vector<double> p_values, p_equivalences;
  for (const FamilyMember* member : family) {
    if (!member->contrast.refused.empty()) continue;
    p_values.push_back(member->contrast.p_value);
    p_equivalences.push_back(member->contrast.p_equivalence);
  }
  const bool discovery = samples.responses[family[0]->response].error_rate == ErrorRate::kFalseDiscovery;
  const auto adjust = [&](const std::vector<double>& p) {
    return discovery ? statistics::benjamini_yekutieli(p) : statistics::holm(p);
  };
  const std::vector<double> adjusted = adjust(p_values), equivalent = adjust(p_equivalences);
  // Holm's level for the members that are still open: what more replicates must reach.
  const auto open = [&](const std::vector<double>& p) {
    const auto count = std::count_if(p.begin(), p.end(), [&](double value) { return value >= samples.alpha; });
    return static_cast<double>(std::max<ptrdiff_t>(1, count));
  };
  const double open_changes = open(adjusted), open_equivalences = open(equivalent);
  const Settling settling(samples, levels);
  size_t next = 0;
  for (FamilyMember* member : family) {
    Contrast& contrast = member->contrast;
    if (!contrast.refused.empty()) continue;
    contrast.p_equivalence_holm = equivalent[next];
    contrast.p_holm = adjusted[next++];
    if (!may_be_judged(samples)) continue;
    const auto [low, high] = member->estimate.ends;
    contrast.verdict = verdict_of(low, high, contrast.margin,
                                  contrast.p_equivalence_holm < samples.alpha, contrast.p_holm < samples.alpha);
    if (settles && contrast.verdict == Verdict::kUnsure && contrast.population != Population::kLikeThese)
      settling.of(member->estimate, open_changes, open_equivalences, contrast);
  }
}

Verdict verdict_of(double low, double high, double margin, bool equivalent_after_holm, bool significant_after_holm) {
  if (equivalent_after_holm) return Verdict::kEquivalent;
  const bool excludes_zero = low > 0 || high < 0;
  const bool inside = low > -margin && high < margin;
  if (excludes_zero && !inside && significant_after_holm) return Verdict::kChanged;
  return Verdict::kUnsure;
}

}  // namespace stab::report
