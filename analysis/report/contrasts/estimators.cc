// What is compared and which draws are independent is decided where the mean's contrasts are (compared_cells.cc, draws.cc); here
// the same draws get another estimate. A margin that is a share of the baseline's mean becomes part of the combination that
// is tested, as in contrast_estimate.cc, so that its own error counts.
#include "analysis/report/contrasts/estimators.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "analysis/report/contrasts/combination.h"
#include "analysis/report/contrasts/compared_cells.h"
#include "analysis/report/contrasts/judged_contrast.h"
#include "analysis/report/contrasts/mixed_contrasts.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/quantile_contrast.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "base/number_text.h"

namespace stab::report {
namespace {

// The cells of one contrast as samples, in one order throughout.
struct CellDraws {
  std::vector<statistics::WeightedSample> cells;  // coefficients: those of the contrast
  std::vector<bool> baseline;         // of each cell: it is one of the baseline's
  bool together = false;              // the i-th values of all cells are one draw
  // Links crossed with blocks: values are what each link adds to the contrast, blocks fitted. No single cell's quantile is in
  // them.
  bool of_links = false;
  double level = 0;
};

Result<CellDraws> draws_of(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload,
                       std::optional<LinkFit>& fit) {
  STAB_TRY(const ComparedCells compared, compared_cells(samples, factor, level, workload));
  CellDraws out;
  out.level = compared.level;
  bool linked = false, all_linked = true, clustered = false;
  for (const auto& [cell, coefficient] : compared.coefficients) {
    out.cells.push_back({cell->values, coefficient});
    out.baseline.push_back(cell->levels[factor] == samples.factors[factor].baseline);
    linked |= is_linked(*cell);
    all_linked &= is_linked(*cell);
    clustered |= !cell->clusters.empty();
  }
  if (clustered) return bad_input("clusters of rows have no estimate but the mean");
  // One cell at a time, by the rule that says which blocks count: the others enter with coefficient 0.
  if (block_contrasts(compared.coefficients)) {
    out.together = true;
    size_t c = 0;
    bool some_left_out = false;
    for (const auto& [chosen, weight] : compared.coefficients) {
      CellCoefficients alone;
      for (const auto& [cell, coefficient] : compared.coefficients) alone[cell] = cell == chosen ? 1 : 0;
      std::vector<double>& values = out.cells[c++].values;
      values = *block_contrasts(alone);
      some_left_out |= values.size() < chosen->values.size();
    }
    // A margin is a share of the baseline in the blocks that are compared.
    if (some_left_out)
      out.level = baseline_in_blocks(compared.coefficients, factor, samples.factors[factor].baseline).value_or(out.level);
    return out;
  }
  if (linked) {
    if (!all_linked)
      return bad_input(
          "links that recur stand against shuffled layouts, which differ in spread by design; the mean's contrast "
          "allows for that, ranks don't");
    if (!fit) fit = fit_links(workload);
    if (!fit->blocked && compared.coefficients.begin()->first->sliced) return bad_input(kSlicedAlike);
    const std::optional<LinkDraws> of_links = link_draws(*fit, workload, compared.coefficients);
    if (!of_links) return bad_input("not every link ran in all cells, or fewer than two did");
    statistics::WeightedSample draws{{}, 1};
    for (const auto& [link, value] : of_links->values) draws.values.push_back(value);
    // Fitted blocks hold a part of the runs' noise: deviations are that much too small.
    const statistics::Moments own = statistics::moments(draws.values);
    if (own.variance() > 0)
      for (double& value : draws.values)
        value = own.mean + std::sqrt(1 + of_links->noise / own.variance()) * (value - own.mean);
    out.cells = {std::move(draws)};
    out.baseline = {false};
    out.together = out.of_links = true;
    return out;
  }
  if (compared.coefficients.begin()->first->sliced) return bad_input(kSlicedAlike);
  return out;
}

// One question about the draws, and its answer.
struct Asked {
  double mu = 0;
  statistics::Alternative alternative = statistics::Alternative::kTwoSided;
  double level = 0.05;  // two-sided, of the interval
};
struct Located {
  double estimate = 0, low = 0, high = 0;
  double p_value = 1;
  uint64_t n = 0;
  bool exact = false;
};

statistics::RankOptions options_of(const Asked& asked, size_t n) {
  statistics::RankOptions options;
  options.mu = asked.mu;
  options.alternative = asked.alternative;
  options.conf = 1 - asked.level;
  options.method = n < statistics::kExactBelow ? statistics::RankMethod::kExact : statistics::RankMethod::kAutomatic;
  options.zeros_stay = true;
  return options;
}

Result<Located> of_ranks(const Result<statistics::RankTest>& test, const Asked& asked, uint64_t n) {
  if (!test) return test.error();
  if (asked.alternative == statistics::Alternative::kTwoSided && test->achieved_conf < 1 - asked.level - 1e-9) {
    char text[160];
    std::snprintf(text, sizeof text, "%llu draws give ranks an interval of %.4g %% at most, and %.6g %% are asked for",
                  static_cast<unsigned long long>(n), 100 * test->achieved_conf, 100 * (1 - asked.level));
    return bad_input(text);
  }
  return Located{
      test->estimate, test->conf_low.value_or(test->estimate), test->conf_high.value_or(test->estimate), test->p_value, n,
      test->exact};
}

// Values without any difference are no sample of a spread, but of no difference.
Result<Located> signed_ranks(const std::vector<double>& values, const Asked& asked) {
  constexpr size_t kMost = 20'000;  // pairs are counted, not kept, but each count passes over all
  if (values.size() > kMost) return bad_input("more than 20,000 draws are too many for ranks; the mean is as good there");
  if (statistics::constant(values)) return bad_input("all draws give the same difference: ranks say nothing of its error");
  return of_ranks(statistics::wilcoxon_signed_rank(values, options_of(asked, values.size())), asked, values.size());
}

Result<Located> hodges_lehmann(const CellDraws& draws, const std::vector<double>& coefficients, bool layout, const Asked& asked) {
  if (draws.together) {
    std::vector<double> values(draws.cells[0].values.size());
    double sizes = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      double of_draw = 0;
      for (size_t c = 0; c < draws.cells.size(); ++c) {
        const double part = coefficients[c] * draws.cells[c].values[i];
        values[i] += part;
        of_draw += std::fabs(part);
      }
      sizes = std::max(sizes, of_draw);
    }
    return signed_ranks(statistics::without_rounding(values, statistics::rounding_of(sizes, draws.cells.size())), asked);
  }
  if (layout)
    return bad_input(
        "outside blocks ranks compare cells that differ by a shift alone, and levels of a layout factor differ in "
        "spread by design; run in blocks");
  if (draws.cells.size() != 2)
    return bad_input("outside blocks there is a distribution-free interval for two cells only, and the contrast takes " +
                     std::to_string(draws.cells.size()) + "; run in blocks");
  const size_t first = draws.baseline[0] ? 1 : 0;
  std::vector<double> samples[2];
  for (size_t c = 0; c < 2; ++c)
    for (const double value : draws.cells[c].values) samples[c == first ? 0 : 1].push_back(std::fabs(coefficients[c]) * value);
  const uint64_t n = std::min(samples[0].size(), samples[1].size());
  const size_t larger = std::max(samples[0].size(), samples[1].size());
  return of_ranks(statistics::mann_whitney(samples[0], samples[1], options_of(asked, larger)), asked, n);
}

Result<Located> by_quantile(const CellDraws& draws, const std::vector<double>& coefficients, double probability,
                            const Asked& asked) {
  if (draws.of_links)
    return bad_input("links that recur are crossed with blocks: a quantile over links would hold the blocks' differences");
  std::vector<statistics::WeightedSample> cells = draws.cells;
  for (size_t c = 0; c < cells.size(); ++c) cells[c].coefficient = coefficients[c];
  STAB_TRY(const statistics::QuantileContrasts found,
           statistics::quantile_contrasts(cells, draws.together, std::vector<double>{probability}));
  const double df = found.df[0], error = found.standard_errors[0];
  const double half = statistics::t_quantile_upper(asked.level / 2, df) * error, t = (found.estimates[0] - asked.mu) / error;
  const double p = asked.alternative == statistics::Alternative::kTwoSided  ? statistics::t_two_sided(t, df)
                   : asked.alternative == statistics::Alternative::kGreater ? statistics::t_upper(t, df)
                                                                            : statistics::t_upper(-t, df);
  return Located{found.estimates[0], found.estimates[0] - half, found.estimates[0] + half, p, found.n, false};
}

// The same of one number for each program.
Result<Located> over_programs(const Estimator& estimator, const std::vector<double>& values, const Asked& asked) {
  if (estimator.kind == Estimator::Kind::kHodgesLehmann) return signed_ranks(values, asked);
  STAB_TRY(const statistics::TTest test, statistics::one_sample_t(values, asked.mu, asked.alternative, 0.95));
  const double half = statistics::t_quantile_upper(asked.level / 2, test.df) * test.standard_error;
  return Located{test.estimate, test.estimate - half, test.estimate + half, test.p_value, values.size(), false};
}

struct Candidate {
  EstimatorContrast contrast;
  double low = 0, high = 0;  // of the interval, on the response's scale
};

// Asks `locate(asked, of_baseline)` for the interval, for p, and for both sides of the margin.
template <typename Function>
void fill(Candidate& candidate, const Response& response, const LookLevels& levels, double level, const Function& locate) {
  EstimatorContrast& contrast = candidate.contrast;
  const Result<Located> wide = locate(Asked{0, statistics::Alternative::kTwoSided, levels.interval()}, 0.0);
  if (!wide) {
    contrast.refused = wide.error().message;
    return;
  }
  const Result<Located> narrow = locate(Asked{0, statistics::Alternative::kTwoSided, levels.equivalence()}, 0.0);
  if (!narrow) {
    contrast.refused = narrow.error().message;
    return;
  }
  const Scale scale = contrast.scale;
  const bool share = response.margin_is_share && scale == Scale::kLinear;
  contrast.margin = margin_on_scale(response, level);
  const double towards = level < 0 ? -response.margin : response.margin;
  const Result<Located> above = share
                                    ? locate(Asked{0, statistics::Alternative::kGreater, levels.interval()}, towards)
                                    : locate(Asked{-contrast.margin, statistics::Alternative::kGreater, levels.interval()}, 0.0);
  const Result<Located> below = share ? locate(Asked{0, statistics::Alternative::kLess, levels.interval()}, -towards)
                                      : locate(Asked{contrast.margin, statistics::Alternative::kLess, levels.interval()}, 0.0);
  candidate.low = wide->low;
  candidate.high = wide->high;
  contrast.interval = {to_people(scale, wide->estimate), to_people(scale, wide->low), to_people(scale, wide->high)};
  contrast.equivalence = {contrast.interval.estimate, to_people(scale, narrow->low), to_people(scale, narrow->high)};
  contrast.distribution_free = wide->exact;
  contrast.n = wide->n;
  contrast.p_value = contrast.p_holm = levels.p(wide->p_value);
  const auto at_look = [&](double one_sided) { return one_sided >= 0.5 ? one_sided : levels.p(2 * one_sided) / 2; };
  if (above && below)
    contrast.p_equivalence = contrast.p_equivalence_holm = std::max(at_look(above->p_value), at_look(below->p_value));
  for (const double number : {contrast.interval.estimate, contrast.interval.low, contrast.interval.high, contrast.equivalence.low,
                              contrast.equivalence.high})
    if (!std::isfinite(number)) contrast.refused = "its interval is beyond what a double holds; rescale the response";
}

void judge(const Samples& samples, const std::vector<Candidate*>& family) {
  std::vector<double> p_values, p_equivalences;
  for (const Candidate* one : family) {
    if (!one->contrast.refused.empty()) continue;
    p_values.push_back(one->contrast.p_value);
    p_equivalences.push_back(one->contrast.p_equivalence);
  }
  const std::vector<double> adjusted = statistics::holm(p_values), equivalent = statistics::holm(p_equivalences);
  size_t next = 0;
  for (Candidate* one : family) {
    EstimatorContrast& contrast = one->contrast;
    if (!contrast.refused.empty()) continue;
    contrast.p_equivalence_holm = equivalent[next];
    contrast.p_holm = adjusted[next++];
    if (may_be_judged(samples))
      contrast.verdict = verdict_of(one->low, one->high, contrast.margin, contrast.p_equivalence_holm < samples.alpha,
                                    contrast.p_holm < samples.alpha);
  }
}

// No confidence sequence covers these estimates: until the last planned replicate they would be a look too many.
std::string too_early(const Samples& samples) {
  if (samples.stopping.rule != StoppingRule::kSequence || replicates_of(samples) == samples.stopping.max) return {};
  return "no confidence sequence covers it: it is judged after all " + std::to_string(samples.stopping.max) +
         " replicates, if it comes so far";
}

LookLevels levels_for(const Samples& samples, const LookLevels& levels) {
  return samples.stopping.rule == StoppingRule::kSequence ? LookLevels(samples.alpha) : levels;
}

bool takes_part(const Response& response) {
  return response.declared && !response.is_benchmark();
}

template <typename Visit>
void each_question(const Samples& samples, const Visit& visit) {
  for (size_t factor = 0; factor < samples.factors.size(); ++factor)
    for (uint32_t level = 0; level < samples.factors[factor].levels.size(); ++level)
      if (level != samples.factors[factor].baseline) visit(factor, level);
}

template <typename Named>
void name_question(Named& out, const Samples& samples, size_t response, size_t factor, uint32_t level) {
  const Factor& facts = samples.factors[factor];
  out.response = samples.responses[response].name;
  out.factor = facts.name;
  out.level = facts.levels[level];
  out.baseline = facts.levels[facts.baseline];
  out.scale = samples.responses[response].scale;
}

std::vector<double> with_baseline(const CellDraws& draws, double of_baseline) {
  const auto baselines = static_cast<double>(std::count(draws.baseline.begin(), draws.baseline.end(), true));
  std::vector<double> coefficients;
  for (size_t c = 0; c < draws.cells.size(); ++c)
    coefficients.push_back(draws.cells[c].coefficient + (draws.baseline[c] ? of_baseline / baselines : 0));
  return coefficients;
}

// One model answers all questions about a response.
void add_mixed(std::vector<Candidate>& candidates, const Samples& samples, const std::vector<WorkloadUnits>& units,
               size_t response, const LookLevels& levels, const std::string& early) {
  const Result<MixedContrasts> model =
      early.empty() ? mixed_contrasts_of(samples, units, response) : Result<MixedContrasts>(bad_input(early));
  const bool over_programs = program_count(samples) > 1;
  each_question(samples, [&](size_t factor, uint32_t level) {
    Candidate& candidate = candidates.emplace_back();
    EstimatorContrast& contrast = candidate.contrast;
    contrast.estimator = name_of({Estimator::Kind::kMixed, 0.5});
    contrast.population = over_programs ? Population::kLikeThese : Population::kOneWorkload;
    if (!over_programs) contrast.workload = samples.workloads[0];
    name_question(contrast, samples, response, factor, level);
    if (!model) {
      contrast.refused = model.error().message;
      return;
    }
    const auto one = std::find_if(model->contrasts.begin(), model->contrasts.end(), [&](const MixedContrasts::One& found) {
      return found.factor == factor && found.level == level;
    });
    contrast.standard_error = one->standard_error;
    contrast.df = one->df;
    contrast.components = model->components;
    fill(candidate, samples.responses[response], levels, 0, [&](const Asked& asked, double) -> Result<Located> {
      const double half = statistics::t_quantile_upper(asked.level / 2, one->df) * one->standard_error;
      const double t = (one->estimate - asked.mu) / one->standard_error;
      const double p = asked.alternative == statistics::Alternative::kTwoSided  ? statistics::t_two_sided(t, one->df)
                       : asked.alternative == statistics::Alternative::kGreater ? statistics::t_upper(t, one->df)
                                                                                : statistics::t_upper(-t, one->df);
      return Located{one->estimate, one->estimate - half, one->estimate + half, p, model->n, false};
    });
  });
}

Result<Located> locate(const Estimator& estimator, const CellDraws& draws, bool layout, const Asked& asked, double of_baseline) {
  if (of_baseline != 0 && draws.of_links)
    return bad_input("the error of a margin that is a share of the baseline can't be had where links are crossed with blocks");
  const std::vector<double> coefficients = with_baseline(draws, of_baseline);
  if (estimator.kind == Estimator::Kind::kHodgesLehmann) return hodges_lehmann(draws, coefficients, layout, asked);
  return by_quantile(draws, coefficients, estimator.probability, asked);
}

}  // namespace

std::string name_of(const Estimator& estimator) {
  if (estimator.kind == Estimator::Kind::kHodgesLehmann) return "hodges-lehmann";
  if (estimator.kind == Estimator::Kind::kMixed) return "mixed";
  if (estimator.probability == 0.5) return "median";
  return "quantile " + number_text(estimator.probability);
}

std::vector<EstimatorContrast> estimator_contrasts_of(const Samples& samples, const UnitsByResponse& units,
                                                      const LookLevels& looks) {
  if (samples.estimators.empty()) return {};
  const std::string early = too_early(samples);
  const LookLevels levels = levels_for(samples, looks);
  std::vector<Candidate> candidates;
  for (size_t response = 0; response < units.size(); ++response) {
    const Response& facts = samples.responses[response];
    if (!takes_part(facts)) continue;
    std::vector<std::optional<LinkFit>> fits(units[response].size());
    for (const Estimator& estimator : samples.estimators) {
      if (estimator.kind == Estimator::Kind::kMixed) {
        add_mixed(candidates, samples, units[response], response, levels, early);
        continue;
      }
      each_question(samples, [&](size_t factor, uint32_t level) {
        const auto begin = [&](Population population) -> Candidate& {
          Candidate& candidate = candidates.emplace_back();
          candidate.contrast.estimator = name_of(estimator);
          candidate.contrast.population = population;
          candidate.contrast.refused = early;
          name_question(candidate.contrast, samples, response, factor, level);
          return candidate;
        };
        std::vector<double> estimates, baselines;  // of the workloads, on the response's scale
        std::string refused;
        for (size_t w = 0; w < units[response].size(); ++w) {
          const Result<CellDraws> draws = draws_of(samples, factor, level, units[response][w], fits[w]);
          Candidate& candidate = begin(Population::kOneWorkload);
          candidate.contrast.workload = samples.workloads[w];
          if (!draws && early.empty()) candidate.contrast.refused = draws.error().message;
          if (candidate.contrast.refused.empty())
            fill(candidate, facts, levels, draws->level, [&](const Asked& asked, double of_baseline) {
              return locate(estimator, *draws, samples.factors[factor].layout, asked, of_baseline);
            });
          if (!candidate.contrast.refused.empty()) {
            if (refused.empty()) refused = "refused for " + samples.workloads[w] + ": " + candidate.contrast.refused;
            continue;
          }
          const double estimate = candidate.contrast.interval.estimate;
          estimates.push_back(on_scale(facts.scale, estimate));
          baselines.push_back(draws->level);
        }
        if (program_count(samples) < 2) return;
        Candidate& candidate = begin(Population::kLikeThese);
        if (!refused.empty()) candidate.contrast.refused = refused;
        if (!candidate.contrast.refused.empty()) return;
        estimates = means_by_program(samples, estimates);
        baselines = means_by_program(samples, baselines);
        fill(candidate, facts, levels, statistics::mean(baselines), [&](const Asked& asked, double of_baseline) {
          std::vector<double> values = estimates;
          for (size_t i = 0; i < values.size(); ++i) values[i] += of_baseline * baselines[i];
          return over_programs(estimator, values, asked);
        });
      });
    }
  }
  for (const Population population : {Population::kOneWorkload, Population::kLikeThese}) {
    std::vector<Candidate*> family;
    for (Candidate& candidate : candidates)
      if (candidate.contrast.population == population) family.push_back(&candidate);
    judge(samples, family);
  }
  std::vector<EstimatorContrast> out;
  for (Candidate& candidate : candidates) out.push_back(std::move(candidate.contrast));
  return out;
}

std::vector<ShiftFunction> shift_functions_of(const Samples& samples, const UnitsByResponse& units, const LookLevels& looks) {
  std::vector<ShiftFunction> out;
  if (samples.shift_quantiles.empty()) return out;
  const std::string early = too_early(samples);
  const LookLevels levels = levels_for(samples, looks);
  for (size_t response = 0; response < units.size(); ++response) {
    if (!takes_part(samples.responses[response])) continue;
    for (size_t w = 0; w < units[response].size(); ++w) {
      std::optional<LinkFit> fit;
      each_question(samples, [&](size_t factor, uint32_t level) {
        ShiftFunction& shift = out.emplace_back();
        name_question(shift, samples, response, factor, level);
        shift.workload = samples.workloads[w];
        shift.refused = early;
        if (!early.empty()) return;
        const Result<CellDraws> draws = draws_of(samples, factor, level, units[response][w], fit);
        if (!draws || draws->of_links) {
          shift.refused =
              draws ? "links that recur are crossed with blocks: a quantile over links would hold the blocks' differences"
                    : draws.error().message;
          return;
        }
        const auto found = statistics::quantile_contrasts(draws->cells, draws->together, samples.shift_quantiles);
        if (!found) {
          shift.refused = found.error().message;
          return;
        }
        shift.n = found->n;
        const double least_df = *std::min_element(found->df.begin(), found->df.end());
        const double band = statistics::simultaneous_critical_t(found->correlations, least_df, levels.interval());
        for (size_t q = 0; q < samples.shift_quantiles.size(); ++q) {
          const double estimate = found->estimates[q], error = found->standard_errors[q];
          const auto around = [&](double half) {
            return Interval{to_people(shift.scale, estimate), to_people(shift.scale, estimate - half),
                            to_people(shift.scale, estimate + half)};
          };
          const double alone = statistics::t_quantile_upper(levels.interval() / 2, found->df[q]);
          shift.points.push_back({samples.shift_quantiles[q], around(alone * error), around(std::max(alone, band) * error)});
          if (!std::isfinite(shift.points.back().band.high) || !std::isfinite(shift.points.back().band.low)) {
            shift.points.clear();
            shift.refused = "its band is beyond what a double holds; rescale the response";
            return;
          }
        }
      });
    }
  }
  return out;
}

}  // namespace stab::report
