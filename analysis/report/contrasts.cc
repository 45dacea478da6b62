// What the report is for: which differences there are, how large, how sure.
//
// A contrast weighs the cells of a level equally and compares them with the same cells of the baseline, cell by
// cell of the other factors. Where the plan ran in blocks the contrast is taken within each block, and the blocks'
// values are what is averaged: whatever the machine did to a whole block cancels, and the spread of the blocks'
// values is the error, whichever cells it comes from. Elsewhere each cell contributes its own variance (Welch,
// Satterthwaite). Variances are never pooled: shuffled cells vary more by design.
// In a fraction no two cells differ in one factor alone. There the effect is that of the linear model of main effects
// over all cells (effects.h), a linear combination of their means like any other, and it carries its aliases.
// Over several workloads there are two questions with two error terms. "These programs" takes the
// workloads as given: the error is that of the cells. "Programs like these" takes theirs as a sample of programs:
// the error is how much the effect differs from program to program, a t test on one estimate for each, the mean of
// its workloads'.
#include "analysis/report/contrasts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/report/clusters.h"
#include "analysis/report/combination.h"
#include "analysis/report/judged_estimate.h"
#include "analysis/report/settling.h"
#include "analysis/statistics/distributions.h"
#include "analysis/report/draws.h"
#include "analysis/statistics/effects.h"
#include "analysis/statistics/multiplicity.h"
#include "analysis/statistics/rank_tests.h"
#include "analysis/statistics/t_tests.h"

namespace stab::report {
namespace {

// What a contrast is before it is put in people's units.
struct Estimate {
  statistics::TTest test;      // two-sided, 1 - alpha
  uint64_t n = 0;              // smallest cell
  bool one_layout = false;
  std::string refused;
  std::optional<double> point;  // the estimate alone, also where its own error can't be had
  std::optional<double> p_rank;
  double least_p_rank = 0;
  bool blocked = false;
  uint64_t blocks_left_out = 0;
  bool by_link = false;
  double level = 0;             // the mean of the baseline's cells: what a relative margin is a share of
  std::vector<std::string> aliases;  // of a fraction
  Route route = Route::kCells;  // so that the same can be done for the margin
  CellCoefficients coefficients;
  // The margin is this share of the baseline's mean, which is an estimate itself: then the difference plus and minus that
  // share are tested as combinations of their own, t - (1 - m) b and t - (1 + m) b. Absent where their error can't be had.
  std::optional<double> share;
  std::optional<statistics::TTest> plus, minus;
  // Independent values whose means these are, in the order of the run; empty where the error comes from elsewhere.
  std::vector<double> draws, plus_draws, minus_draws;
  Shared shared;                // of its error, with other workloads
  JudgedEstimate::Ends ends;  // of the (1 - alpha) interval, once it is described
};

// A contrast in both shapes, with the response it belongs to.
struct Candidate {
  size_t response = 0;
  Contrast contrast;
  Estimate estimate;
};

Estimate refuse(std::string reason) {
  Estimate estimate;
  estimate.refused = std::move(reason);
  return estimate;
}

// No two cells differ in this factor alone: a fraction. Its effect is in the means of all cells.
Result<ComparedCells> over_all_cells(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload) {
  const Factor& facts = samples.factors[factor];
  STAB_TRY(const statistics::MainEffect effect,
           statistics::main_effect(cell_codes(samples, workload.cells), factor, level, facts.baseline));
  ComparedCells comparison;
  comparison.aliases = effect.aliases;
  double baselines = 0;
  for (size_t c = 0; c < workload.cells.size(); ++c) {
    const CellUnits& cell = workload.cells[c];
    if (cell.levels[factor] == facts.baseline) {
      comparison.level += cell.moments.mean;
      baselines += 1;
    }
    if (std::fabs(effect.weights[c]) < 1e-12) continue;  // takes no part
    comparison.coefficients[&cell] = effect.weights[c];
    comparison.one_layout |= cell.one_layout;
  }
  comparison.level /= baselines;
  if (comparison.one_layout && !facts.layout)
    return bad_input("some cells ran in one layout each, and the effects of a fraction are taken from all cells: the difference "
                     "may be link-order bias; randomize code, or link with several seeds");
  return comparison;
}

}  // namespace

// Pairs of cells that differ in this factor only, each as heavy as the others.
Result<ComparedCells> compared_cells(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload) {
  const Factor& facts = samples.factors[factor];
  std::map<std::vector<uint32_t>, std::pair<const CellUnits*, const CellUnits*>> pairs;
  for (const CellUnits& cell : workload.cells) {
    std::vector<uint32_t> others = cell.levels;
    others[factor] = 0;
    if (cell.levels[factor] == level) pairs[others].first = &cell;
    if (cell.levels[factor] == facts.baseline) pairs[others].second = &cell;
  }
  size_t compared = 0, single = 0;
  // A treatment is compared across layouts: pairs of cells that hold one layout each say nothing about others,
  // so they take no part as long as there are better ones.
  const auto repeats = [](const auto& pair) { return pair.first->one_layout || pair.second->one_layout; };
  for (const auto& [others, pair] : pairs) {
    if (!pair.first || !pair.second) continue;
    ++compared;
    if (repeats(pair)) ++single;
  }
  if (compared == 0) return over_all_cells(samples, factor, level, workload);
  const bool is_about_layouts = !facts.layout && facts.name != kBinaryFactor;
  const bool skip_single = is_about_layouts && single < compared;
  if (is_about_layouts && single == compared) return bad_input(kOneLayoutASide);
  ComparedCells comparison;
  const auto weight = static_cast<double>(skip_single ? compared - single : compared);
  for (const auto& [others, pair] : pairs) {
    if (!pair.first || !pair.second || (skip_single && repeats(pair))) continue;
    comparison.strata.push_back({pair.first->values, pair.second->values});
    comparison.coefficients[pair.first] = 1 / weight;
    comparison.coefficients[pair.second] = -1 / weight;
    comparison.level += pair.second->moments.mean / weight;
    comparison.one_layout |= repeats(pair);
  }
  return comparison;
}

namespace {

// level against baseline of one factor in one workload.
// fit: of the workload, made when it is first needed.
Estimate within_workload(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload,
                         std::optional<LinkFit>& fit) {
  auto comparison = compared_cells(samples, factor, level, workload);
  if (!comparison) return refuse(comparison.error().message);
  const CellCoefficients& coefficients = comparison->coefficients;
  Estimate estimate;
  estimate.aliases = std::move(comparison->aliases);
  estimate.level = comparison->level;
  estimate.one_layout = comparison->one_layout;
  estimate.coefficients = coefficients;
  Combination found = test_combination(coefficients, comparison->strata, comparison->level, samples.alpha, workload, fit);
  estimate.route = found.route;
  estimate.test = found.test;
  estimate.n = found.n;
  estimate.point = found.point;
  estimate.p_rank = found.p_rank;
  estimate.least_p_rank = found.least_p_rank;
  estimate.blocked = found.blocked;
  estimate.blocks_left_out = found.blocks_left_out;
  estimate.by_link = found.by_link;
  estimate.refused = std::move(found.refused);
  estimate.draws = std::move(found.draws);
  estimate.shared = std::move(found.shared);
  return estimate;
}

// The tests against a margin that is a share of the baseline's mean, by the route that the difference took.
void add_share(Estimate& estimate, const Samples& samples, size_t factor, double share, const WorkloadUnits& workload,
               const std::optional<LinkFit>& fit) {
  estimate.share = share;
  if (!estimate.refused.empty()) return;
  double baselines = 0;
  for (const auto& [cell, coefficient] : estimate.coefficients)
    baselines += cell->levels[factor] == samples.factors[factor].baseline;
  const auto tested = [&](double of_baseline, std::vector<double>& draws) -> std::optional<statistics::TTest> {
    CellCoefficients coefficients = estimate.coefficients;
    for (auto& [cell, coefficient] : coefficients)
      if (cell->levels[factor] == samples.factors[factor].baseline) coefficient += of_baseline / baselines;
    switch (estimate.route) {
      case Route::kBlocks:
        if (auto values = block_contrasts(coefficients))
          if (const auto test = statistics::one_sample_t(*values, 0, statistics::Alternative::kTwoSided, 1 - samples.alpha)) {
            if (!estimate.draws.empty()) draws = std::move(*values);
            return *test;
          }
        return {};
      case Route::kClusters:
        if (const auto clustered = cluster_contrast(coefficients, samples.alpha); clustered && *clustered)
          return (*clustered)->test;
        return {};
      case Route::kLinks:
        if (const auto linked = link_contrast(*fit, workload, coefficients, samples.alpha)) return linked->test;
        return {};
      case Route::kCells: {
        std::vector<statistics::WeightedCell> cells;
        for (const auto& [cell, coefficient] : coefficients) cells.push_back({cell->moments, coefficient});
        if (const auto test = statistics::welch_contrast(cells, 0, statistics::Alternative::kTwoSided, 1 - samples.alpha))
          return *test;
        return {};
      }
    }
    return {};
  };
  const double towards = estimate.level < 0 ? -share : share;
  estimate.plus = tested(towards, estimate.plus_draws);
  estimate.minus = tested(-towards, estimate.minus_draws);
}

// The spread of the first stage, not of all replicates, is what the interval may rest on: the second stage is as long
// as the first one's spread asked for. Where repeats shrink the error less than that (links that recur), its own holds.
Estimate two_stages(Estimate all, const Estimate& first, double shrinks, double alpha) {
  if (!all.refused.empty()) return all;
  if (!first.refused.empty()) return refuse("refused in the first stage: " + first.refused);
  const auto rest_on = [&](statistics::TTest& test, const statistics::TTest& of_first) {
    test = statistics::t_test_of(test.estimate, std::max(test.standard_error, shrinks * of_first.standard_error),
                                 std::min(test.df, of_first.df), 0, statistics::Alternative::kTwoSided, 1 - alpha);
  };
  const double before = all.test.standard_error;
  rest_on(all.test, first.test);
  const double widened = before > 0 ? all.test.standard_error / before : 1;
  for (auto& [draw, part] : all.shared.parts) part *= widened;
  all.shared.rest *= widened * widened;
  all.shared.df = std::min(all.shared.df, all.test.df);
  if (!first.plus || !first.minus) all.plus = all.minus = std::nullopt;
  if (all.plus) rest_on(*all.plus, *first.plus);
  if (all.minus) rest_on(*all.minus, *first.minus);
  return all;
}

const Shared kNothingShared;

// The workloads' means, draw by draw, of as many as all have; empty where one has none.
std::vector<double> means_of_draws(const std::vector<const std::vector<double>*>& parts) {
  size_t shortest = parts[0]->size();
  for (const auto* part : parts) shortest = std::min(shortest, part->size());
  std::vector<double> means(shortest);
  for (const auto* part : parts)
    for (size_t i = 0; i < shortest; ++i) means[i] += (*part)[i] / static_cast<double>(parts.size());
  return means;
}

// The mean over workloads that are taken as given. Those of one program run the same binaries.
Estimate over_these(const std::vector<Estimate>& parts, const Samples& samples) {
  Estimate result;
  result.n = parts[0].n;
  result.aliases = parts[0].aliases;
  std::vector<MeanPart> all, plus, minus;
  std::vector<const std::vector<double>*> draws, plus_draws, minus_draws;
  const auto count = static_cast<double>(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Estimate& part = parts[i];
    if (!part.refused.empty()) return refuse("refused for " + samples.workloads[i] + ": " + part.refused);
    all.push_back({&part.test, &part.shared, part.by_link, sharing_group(samples, i, part.route)});
    draws.push_back(&part.draws);
    plus_draws.push_back(&part.plus_draws);
    minus_draws.push_back(&part.minus_draws);
    // A margin of one sign: shares of means that lie on both sides of 0 don't add up to one.
    if (part.plus && part.minus && (part.level < 0) == (parts[0].level < 0)) {
      plus.push_back({&*part.plus, &kNothingShared, false, {}});
      minus.push_back({&*part.minus, &kNothingShared, false, {}});
    }
    result.one_layout |= part.one_layout;
    result.level += part.level / count;
    result.by_link |= part.by_link;
    result.n = std::min(result.n, part.n);
  }
  const MeanOfParts mean = mean_of(all, samples.alpha);
  result.test = mean.test;
  result.share = parts[0].share;
  // What a margin adds to the error is little beside it, so workloads share as much of it.
  const auto with_margin = [&](const std::vector<MeanPart>& tests) {
    const statistics::TTest alone = mean_of(tests, samples.alpha).test;
    return statistics::t_test_of(alone.estimate, alone.standard_error * std::max(1.0, mean.widened),
                                 std::min(alone.df, mean.test.df), 0, statistics::Alternative::kTwoSided, 1 - samples.alpha);
  };
  const bool has_share = plus.size() == parts.size();
  if (has_share) {
    result.plus = with_margin(plus);
    result.minus = with_margin(minus);
  }
  if (mean.shares) return result;  // a block's mean is no draw of its own
  result.draws = means_of_draws(draws);
  if (has_share) {
    result.plus_draws = means_of_draws(plus_draws);
    result.minus_draws = means_of_draws(minus_draws);
  }
  return result;
}

// Looks go on in replicates, and this error is that between programs: with as few degrees of freedom its t wanders beyond any
// boundary that replicates set. So under a sequence it is judged once, at the end as planned, as if that were the only look.
bool is_judged_at_the_end(const Samples& samples) { return samples.stopping.rule == StoppingRule::kSequence; }

// The mean over programs that stand for others.
Estimate over_like_these(const std::vector<Estimate>& parts, const Samples& samples) {
  if (is_judged_at_the_end(samples) && replicates_of(samples) != samples.stopping.max)
    return refuse("no confidence sequence covers it, as its error is that between " + samples.program_word +
                  "s: it is judged after all " + std::to_string(samples.stopping.max) + " replicates, if it comes so far");
  std::vector<double> estimates, levels;
  Estimate result;
  result.aliases = parts[0].aliases;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Estimate& part = parts[i];
    if (!part.point) return refuse("refused for " + samples.workloads[i] + ": " + part.refused);
    estimates.push_back(*part.point);
    levels.push_back(part.level);
    result.one_layout |= part.one_layout;
  }
  estimates = means_by_program(samples, estimates);
  levels = means_by_program(samples, levels);
  result.level = statistics::moments(levels).mean;
  result.n = estimates.size();
  auto test = statistics::one_sample_t(estimates, 0, statistics::Alternative::kTwoSided, 1 - samples.alpha);
  if (!test) return refuse(test.error().message);
  result.test = *test;
  result.share = parts[0].share;
  const auto with_share = [&](double share) -> std::optional<statistics::TTest> {
    std::vector<double> shifted(estimates);
    for (size_t i = 0; i < shifted.size(); ++i) shifted[i] += share * levels[i];
    if (const auto against = statistics::one_sample_t(shifted, 0, statistics::Alternative::kTwoSided, 1 - samples.alpha))
      return *against;
    return {};
  };
  if (result.share) {
    const double towards = result.level < 0 ? -*result.share : *result.share;
    result.plus = with_share(towards);
    result.minus = with_share(-towards);
  }
  return result;
}

bool has_replicates(const WorkloadUnits& workload) {
  return std::any_of(workload.cells.begin(), workload.cells.end(), [](const CellUnits& cell) { return cell.moments.n > 1; });
}

double margin_on_scale(const Response& response, const Estimate& estimate) {
  if (response.scale == Scale::kLog) return std::log1p(response.margin);
  return response.margin_is_share ? response.margin * std::fabs(estimate.level) : response.margin;
}

// The two one-sided tests against the margin.
void add_equivalence(Contrast& contrast, const LookLevels& levels, const Estimate& estimate) {
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

Contrast describe(const Samples& samples, const LookLevels& levels, size_t response, size_t factor, uint32_t level,
                  Estimate& estimate) {
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
  const auto to_people = [&](double x) { return facts.scale == Scale::kLog ? std::exp(x) : x; };
  contrast.interval = {to_people(test.estimate), to_people(estimate.ends.low), to_people(estimate.ends.high)};
  contrast.equivalence = {contrast.interval.estimate, to_people(narrow.low), to_people(narrow.high)};
  for (const double number : {contrast.interval.estimate, contrast.interval.low, contrast.interval.high, contrast.equivalence.low,
                              contrast.equivalence.high, test.standard_error, test.df, test.p_value}) {
    if (std::isfinite(number)) continue;
    contrast.refused = "its interval is beyond what a double holds; rescale the response";
    return contrast;
  }
  contrast.baseline_mean = estimate.level;
  contrast.margin = margin_on_scale(facts, estimate);
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
  void of(const Estimate& estimate, double changes, double equivalences, Contrast& contrast) const {
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

// Adjusts within a family and judges each member.
void judge(const Samples& samples, const LookLevels& levels, const std::vector<Candidate*>& family) {
  std::vector<double> p_values, p_equivalences;
  for (const Candidate* candidate : family) {
    if (!candidate->contrast.refused.empty()) continue;
    p_values.push_back(candidate->contrast.p_value);
    p_equivalences.push_back(candidate->contrast.p_equivalence);
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
  for (Candidate* candidate : family) {
    Contrast& contrast = candidate->contrast;
    if (!contrast.refused.empty()) continue;
    contrast.p_equivalence_holm = equivalent[next];
    contrast.p_holm = adjusted[next++];
    if (!may_be_judged(samples)) continue;
    const auto [low, high] = candidate->estimate.ends;
    contrast.verdict = verdict_of(low, high, contrast.margin,
                                  contrast.p_equivalence_holm < samples.alpha, contrast.p_holm < samples.alpha);
    if (contrast.verdict == Verdict::kUnsure && contrast.population != Population::kLikeThese)
      settling.of(candidate->estimate, open_changes, open_equivalences, contrast);
  }
}

}  // namespace

FamilyOfQuestions family_of(const Samples& samples, size_t response, Population population) {
  const Response& of = samples.responses[response];
  const size_t own = of.declared || of.is_benchmark() ? 0 : response + 1;
  const uint32_t workload = of.is_benchmark() ? 1 + *of.only_workload : 0;
  return {population, own, of.family, workload};
}

Verdict verdict_of(double low, double high, double margin, bool equivalent_after_holm, bool significant_after_holm) {
  if (equivalent_after_holm) return Verdict::kEquivalent;
  const bool excludes_zero = low > 0 || high < 0;
  const bool inside = low > -margin && high < margin;
  if (excludes_zero && !inside && significant_after_holm) return Verdict::kChanged;
  return Verdict::kUnsure;
}

std::vector<Contrast> contrasts_of(const Samples& samples, const UnitsByResponse& units, const StoppedAt& stopped) {
  std::vector<Candidate> candidates;
  const LookLevels at_the_end(samples.alpha);
  const auto levels_for = [&](Population population) -> const LookLevels& {
    return population == Population::kLikeThese && is_judged_at_the_end(samples) ? at_the_end : stopped.levels;
  };
  const auto add = [&](Population population, size_t response, size_t factor, uint32_t level, Estimate estimate) -> Contrast& {
    Contrast described = describe(samples, levels_for(population), response, factor, level, estimate);
    candidates.push_back({response, std::move(described), std::move(estimate)});
    candidates.back().contrast.population = population;
    return candidates.back().contrast;
  };
  for (size_t response = 0; response < units.size(); ++response) {
    const std::vector<WorkloadUnits>& workloads = units[response];
    // With one value a cell there is no error within workloads; the question about others like them remains.
    const bool own_errors = workloads.size() < 2 || samples.responses[response].is_benchmark() ||
                            std::any_of(workloads.begin(), workloads.end(), has_replicates);
    std::vector<std::optional<LinkFit>> fits(workloads.size()), first_fits(workloads.size());
    std::vector<std::pair<size_t, uint32_t>> asked;
    std::vector<std::vector<Estimate>> parts;
    for (size_t factor = 0; factor < samples.factors.size(); ++factor) {
      for (uint32_t level = 0; level < samples.factors[factor].levels.size(); ++level) {
        if (level == samples.factors[factor].baseline) continue;
        asked.emplace_back(factor, level);
        parts.emplace_back();
        for (size_t w = 0; w < workloads.size(); ++w) {
          const Response& facts = samples.responses[response];
          if (facts.only_workload && *facts.only_workload != w) continue;
          const auto estimate_of = [&](const WorkloadUnits& of, std::optional<LinkFit>& fit) {
            Estimate estimate = within_workload(samples, factor, level, of, fit);
            if (facts.margin_is_share && facts.scale == Scale::kLinear)
              add_share(estimate, samples, factor, facts.margin, of, fit);
            return estimate;
          };
          Estimate part = estimate_of(workloads[w], fits[w]);
          if (stopped.first_stage)
            part = two_stages(std::move(part), estimate_of((*stopped.first_stage)[response][w], first_fits[w]), stopped.shrinks,
                              samples.alpha);
          parts.back().push_back(std::move(part));
          if (!own_errors) continue;
          add(Population::kOneWorkload, response, factor, level, parts.back().back()).workload = samples.workloads[w];
        }
      }
    }
    if (workloads.size() < 2 || samples.responses[response].is_benchmark()) continue;
    for (size_t i = 0; i < asked.size(); ++i) {
      const auto [factor, level] = asked[i];
      if (own_errors)
        add(Population::kThese, response, factor, level, over_these(parts[i], samples));
      if (program_count(samples) > 1)
        add(Population::kLikeThese, response, factor, level, over_like_these(parts[i], samples));
    }
  }
  std::map<FamilyOfQuestions, std::vector<Candidate*>> families;
  for (Candidate& candidate : candidates)
    families[family_of(samples, candidate.response, candidate.contrast.population)].push_back(&candidate);
  for (const auto& [question, family] : families) judge(samples, levels_for(std::get<0>(question)), family);
  std::vector<Contrast> contrasts;
  for (Candidate& candidate : candidates) contrasts.push_back(std::move(candidate.contrast));
  return contrasts;
}

Interval to_people(Scale scale, const statistics::TTest& test) {
  const auto shown = [&](double x) { return scale == Scale::kLog ? std::exp(x) : x; };
  return {shown(test.estimate), shown(test.conf_low.value_or(test.estimate)), shown(test.conf_high.value_or(test.estimate))};
}

}  // namespace stab::report
