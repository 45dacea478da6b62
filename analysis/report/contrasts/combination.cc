#include "analysis/report/contrasts/combination.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/report/experiment/clusters.h"
#include "analysis/statistics/distributions/satterthwaite.h"

namespace stab::report {
namespace {

void add_signed_ranks(Combination& out, const std::vector<double>& draws) {
  if (const auto p = statistics::signed_rank_p(draws)) out.p_rank = *p;
  out.least_p_rank = statistics::signed_rank_least_p(draws);
}

void add_ranks(Combination& out, const std::vector<statistics::Stratum2>& strata) {
  if (strata.empty()) return;
  if (const auto p = statistics::van_elteren_p(strata)) out.p_rank = *p;
  out.least_p_rank = statistics::van_elteren_least_p(strata);
}

// By the clusters that the data name. pre: there are some
void by_clusters(Combination& out, const Result<ClusterContrast>& clustered, const std::vector<statistics::Stratum2>& strata) {
  out.route = Route::kClusters;
  if (!clustered) {
    out.refused = clustered.error().message;
    return;
  }
  out.test = clustered->test;
  out.point = out.test.estimate;
  out.n = clustered->clusters;
  out.blocked = clustered->crossed;
  out.shared = clustered->shared;
  if (clustered->crossed) {
    const std::vector<double> draws = statistics::without_rounding(clustered->draws, clustered->rounding);
    add_signed_ranks(out, draws);
  } else if (clustered->nested) {
    add_ranks(out, strata);
  }
}

// Of blocks that the data name: some lack one of these cells. What a block adds then stays in the means of the others.
bool lacks_cells(const CellCoefficients& coefficients, const WorkloadUnits& workload) {
  if (!workload.rows_in_blocks || workload.shares_clusters || coefficients.empty()) return false;
  const auto blocks_of = [](const CellUnits& cell) { return std::set<uint32_t>(cell.clusters.begin(), cell.clusters.end()); };
  const std::set<uint32_t> first = blocks_of(*coefficients.begin()->first);
  return std::any_of(coefficients.begin(), coefficients.end(), [&](const auto& one) { return blocks_of(*one.first) != first; });
}

}  // namespace

Combination test_combination(const CellCoefficients& coefficients, const std::vector<statistics::Stratum2>& strata, double level,
                             double alpha, const WorkloadUnits& workload, std::optional<LinkFit>& fit) {
  Combination out;
  std::vector<statistics::WeightedCell> cells;
  out.n = UINT64_MAX;
  for (const auto& [cell, coefficient] : coefficients) {
    cells.push_back({cell->moments, coefficient});
    out.n = std::min(out.n, cell->moments.n);
    out.point += coefficient * cell->moments.mean;
    out.by_link |= is_linked(*cell);
  }
  const auto draws = block_draws(coefficients);
  const bool named_blocks = draws && lacks_cells(coefficients, workload);
  if (const auto clustered = named_blocks ? std::nullopt : cluster_contrast(coefficients, alpha)) {
    by_clusters(out, *clustered, strata);
    if (!workload.shares_clusters) out.shared = {};
    return out;
  }
  if (draws) {
    std::vector<double> values;
    for (const auto& [key, value] : draws->values) values.push_back(value);
    out.blocked = true;
    out.route = Route::kBlocks;
    out.n = values.size();
    out.blocks_left_out = draws->left_out;
    const auto blocked = statistics::one_sample_t(values, 0, statistics::Alternative::kTwoSided, 1 - alpha, std::fabs(level));
    if (!blocked) {
      out.refused = blocked.error().message;
      return out;
    }
    out.test = *blocked;
    out.point = blocked->estimate;
    add_signed_ranks(out, statistics::without_rounding(values, draws->rounding));
    if (draws->recurring) {
      const auto count = static_cast<double>(values.size());
      for (const auto& [link, value] : draws->values)
        out.shared.parts[link] = (value - out.point) / std::sqrt(count * (count - 1));
      out.shared.df = count - 1;
    } else {
      out.draws = std::move(values);
    }
    return out;
  }
  const bool sliced = !coefficients.empty() && coefficients.begin()->first->sliced;
  if (out.by_link && !fit) fit = fit_links(workload);
  const bool takes_links = fit && (fit->blocked || !sliced);
  if (const auto linked = takes_links ? link_contrast(*fit, workload, coefficients, alpha) : std::nullopt) {
    out.blocked = linked->blocked;
    out.route = Route::kLinks;
    out.test = linked->test;
    out.point = linked->test.estimate;
    out.shared = linked->shared;
    add_ranks(out, strata);
    return out;
  }
  if (sliced) {
    out.refused = kSlicedAlike;
    return out;
  }
  auto test = statistics::welch_contrast(cells, 0, statistics::Alternative::kTwoSided, 1 - alpha);
  if (!test) {
    out.refused = test.error().message;
    return out;
  }
  out.test = *test;
  // Ranking a million values takes longer than all the rest, and says the same as means there.
  constexpr uint64_t kMostRanked = 100'000;
  uint64_t values = 0;
  for (const statistics::WeightedCell& cell : cells) values += cell.moments.n;
  if (values <= kMostRanked) add_ranks(out, strata);
  return out;
}

namespace {

// Adds what the parts of one group that share draws add to the variance of their sum. False: they share none.
bool add_shared(const std::vector<const MeanPart*>& group, double scale, statistics::VarianceSum& variance) {
  std::map<uint64_t, double> together;
  size_t parts = 0;
  double df = HUGE_VAL;
  for (const MeanPart* part : group) {
    for (const auto& [draw, own] : part->shared->parts) together[draw] += own;
    parts += part->shared->parts.size();
    df = std::min(df, part->shared->df);
  }
  if (together.size() == parts) return false;
  double squares = 0;
  for (const auto& [draw, sum] : together) squares += sum * sum;
  variance.add(scale * squares, df);
  for (const MeanPart* part : group)
    if (part->shared->rest > 0) variance.add(scale * part->shared->rest, part->shared->rest_df);
  return true;
}

}  // namespace

std::string sharing_group(const Samples& samples, size_t workload, Route route) {
  if (route == Route::kClusters) return {};
  return samples.programs.empty() ? samples.workloads[workload] : samples.programs[workload];
}

MeanOfParts mean_of(const std::vector<MeanPart>& parts, double alpha) {
  MeanOfParts out;
  double estimate = 0;
  statistics::VarianceSum variance, independent;
  const double scale = 1 / static_cast<double>(parts.size() * parts.size());
  std::map<std::string, std::vector<const MeanPart*>> known, unknown;  // by group: parts whose draws are known, or aren't
  const auto add = [&](const MeanPart& part) {
    variance.add(scale * part.test->standard_error * part.test->standard_error, part.test->df);
  };
  for (const MeanPart& part : parts) {
    estimate += part.test->estimate / static_cast<double>(parts.size());
    independent.add(scale * part.test->standard_error * part.test->standard_error, part.test->df);
    if (!part.shared->parts.empty()) known[part.group].push_back(&part);
    else if (part.by_link) unknown[part.group].push_back(&part);
    else add(part);
  }
  for (const auto& [name, group] : known) {
    if (add_shared(group, scale, variance)) {
      out.shares = true;
      continue;
    }
    for (const MeanPart* part : group) add(*part);
  }
  for (const auto& [name, group] : unknown) {
    double errors = 0, df = HUGE_VAL;
    for (const MeanPart* part : group) {
      errors += part->test->standard_error;
      df = std::min(df, part->test->df);
    }
    variance.add(scale * errors * errors, df);
    out.shares |= group.size() > 1;
  }
  out.test =
      statistics::t_test_of(estimate, std::sqrt(variance.sum()), variance.df(), 0, statistics::Alternative::kTwoSided, 1 - alpha);
  if (independent.sum() > 0) out.widened = std::sqrt(variance.sum() / independent.sum());
  return out;
}

}  // namespace stab::report
