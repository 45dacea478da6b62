// Within a workload, blocks, clusters, links or cells carry the error (combination.h). Over workloads, it is that of their mean
// as given, or of their programs as a sample.
#include "analysis/report/contrasts/contrast_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/report/contrasts/compared_cells.h"
#include "analysis/report/experiment/clusters.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "base/wording.h"

namespace stab::report {
namespace {

ContrastEstimate refuse(std::string reason) {
  ContrastEstimate estimate;
  estimate.refused = std::move(reason);
  return estimate;
}

// Which of these cells, whose own spread is to be the error, have none; empty where none lacks it.
std::string lone_values(const Samples& samples, const CellCoefficients& coefficients) {
  std::string first;
  uint64_t cells = 0;
  for (const auto& [cell, coefficient] : coefficients)
    if (!cell->sliced && cell->moments.n < 2 && cells++ == 0) first = text_of_levels(samples, cell->levels);
  if (cells == 0) return "";
  const std::string more = samples.unit == Unit::kRow ? "another " + samples.row_word : "replicates";
  if (cells == 1) return first + " has one value, and no spread of its own; add " + more;
  return first + " and " + plural(cells - 1, "more cell") + " have one value each, and no spread of their own; add " + more;
}

}  // namespace

ContrastEstimate within_workload(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload,
                                 std::optional<LinkFit>& fit) {
  auto comparison = compared_cells(samples, factor, level, workload);
  if (!comparison) return refuse(comparison.error().message);
  const CellCoefficients& coefficients = comparison->coefficients;
  ContrastEstimate estimate;
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
  // Blocks that lack a cell have no part in the difference, nor in what its margin is a share of.
  if (estimate.route == Route::kBlocks && estimate.blocks_left_out > 0)
    estimate.level = baseline_in_blocks(coefficients, factor, samples.factors[factor].baseline).value_or(estimate.level);
  estimate.refused = std::move(found.refused);
  if (!estimate.refused.empty() && estimate.route == Route::kCells)
    if (std::string lone = lone_values(samples, coefficients); !lone.empty()) estimate.refused = std::move(lone);
  estimate.draws = std::move(found.draws);
  estimate.shared = std::move(found.shared);
  return estimate;
}

void add_share(ContrastEstimate& estimate, const Samples& samples, size_t factor, double share, const WorkloadUnits& workload,
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

ContrastEstimate two_stages(ContrastEstimate all, const ContrastEstimate& first, double shrinks, double alpha) {
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

namespace {

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

}  // namespace

ContrastEstimate over_these(const std::vector<ContrastEstimate>& parts, const Samples& samples) {
  ContrastEstimate result;
  result.n = parts[0].n;
  result.aliases = parts[0].aliases;
  std::vector<MeanPart> all, plus, minus;
  std::vector<const std::vector<double>*> draws, plus_draws, minus_draws;
  const auto count = static_cast<double>(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const ContrastEstimate& part = parts[i];
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

bool is_judged_at_the_end(const Samples& samples) { return samples.stopping.rule == StoppingRule::kSequence; }

ContrastEstimate over_like_these(const std::vector<ContrastEstimate>& parts, const Samples& samples) {
  if (is_judged_at_the_end(samples) && replicates_of(samples) != samples.stopping.max)
    return refuse("no confidence sequence covers it, as its error is that between " + samples.program_word +
                  "s: it is judged after all " + std::to_string(samples.stopping.max) + " replicates, if it comes so far");
  std::vector<double> estimates, levels;
  ContrastEstimate result;
  result.aliases = parts[0].aliases;
  for (size_t i = 0; i < parts.size(); ++i) {
    const ContrastEstimate& part = parts[i];
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

}  // namespace stab::report
