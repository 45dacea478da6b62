// What a cluster adds to a combination sum c_i mean_i is v = sum over its cells of c_i y_i / G_i, G_i the clusters of cell i.
// The combination is the sum of all v, and clusters are independent: its variance is the sum of theirs.
#include "analysis/report/clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/statistics/descriptive.h"
#include "analysis/statistics/rank_tests.h"
#include "analysis/statistics/satterthwaite.h"

namespace stab::report {
namespace {

// invariant: cells ascending, one value for each
struct Cluster {
  std::vector<size_t> cells;
  double added = 0;      // to the combination
  double deviation = 0;  // the same of its deviations from the cells' means
};

}  // namespace

std::optional<Result<ClusterContrast>> cluster_contrast(const CellCoefficients& coefficients, double alpha) {
  std::map<uint32_t, Cluster> clusters;
  ClusterContrast result;
  result.clusters = UINT64_MAX;
  size_t number = 0;
  double largest = 0;
  for (const auto& [cell, coefficient] : coefficients) {
    if (cell->clusters.empty()) return {};
    const auto count = static_cast<double>(cell->values.size());
    for (size_t i = 0; i < cell->values.size(); ++i) {
      Cluster& cluster = clusters[cell->clusters[i]];
      cluster.cells.push_back(number);
      cluster.added += coefficient * cell->values[i] / count;
      cluster.deviation += coefficient * (cell->values[i] - cell->moments.mean) / count;
      largest = std::max(largest, std::fabs(coefficient * cell->values[i] / count));
    }
    result.clusters = std::min<uint64_t>(result.clusters, cell->values.size());
    ++number;
  }
  std::map<std::vector<size_t>, std::vector<double>> groups;
  for (const auto& [name, cluster] : clusters) groups[cluster.cells].push_back(cluster.added);
  result.crossed = groups.size() == 1;
  result.nested = std::all_of(groups.begin(), groups.end(), [](const auto& group) { return group.first.size() == 1; });
  const bool alone = std::any_of(groups.begin(), groups.end(), [](const auto& group) { return group.second.size() < 2; });
  double estimate = 0, variance = 0, df = 0;
  for (const auto& [name, cluster] : clusters) estimate += cluster.added;
  if (!alone) {
    statistics::VarianceSum parts;
    std::map<std::vector<size_t>, statistics::Moments> of_group;
    for (const auto& [cells, added] : groups) {
      const statistics::Moments group = of_group[cells] = statistics::moments(added);
      parts.add(static_cast<double>(group.n) * group.variance(), static_cast<double>(group.n - 1));
    }
    variance = parts.sum();
    df = parts.df();
    for (const auto& [name, cluster] : clusters) {
      const statistics::Moments& group = of_group[cluster.cells];
      result.shared.parts[name] =
          (cluster.added - group.mean) * std::sqrt(static_cast<double>(group.n) / static_cast<double>(group.n - 1));
    }
  } else if (result.clusters >= 2) {
    const auto count = static_cast<double>(clusters.size());
    for (const auto& [name, cluster] : clusters) {
      variance += cluster.deviation * cluster.deviation * count / (count - 1);
      result.shared.parts[name] = cluster.deviation * std::sqrt(count / (count - 1));
    }
    df = static_cast<double>(result.clusters - 1);
  }
  result.shared.df = df;
  double noise = 0, noise_df = 0;
  for (const auto& [cell, coefficient] : coefficients) {
    const double weight = coefficient / static_cast<double>(cell->values.size());
    for (const double own : cell->unit_noise) noise += weight * weight * own;
    noise_df = std::max(noise_df, cell->noise_df);
  }
  if (noise > 0 && df > 0) {
    statistics::VarianceSum both;
    both.add(variance, df);
    both.add(noise, noise_df);
    variance = both.sum();
    df = both.df();
    result.shared.rest = noise;
    result.shared.rest_df = noise_df;
  }
  if (result.clusters < 2)
    return Result<ClusterContrast>(
        bad_input("a cell has values of one block or cluster only: how much these differ can't be known; add values of others"));
  if (!(df > 0) || std::sqrt(variance) <= 2 * std::numeric_limits<double>::epsilon() * largest)
    return Result<ClusterContrast>(
        statistics::no_spread(result.crossed ? "differences within blocks or clusters" : "means of blocks or clusters"));
  result.test = statistics::t_test_of(estimate, std::sqrt(variance), df, 0, statistics::Alternative::kTwoSided, 1 - alpha);
  if (!result.crossed) return Result<ClusterContrast>(std::move(result));
  const auto crossing = static_cast<double>(clusters.size()), terms = static_cast<double>(number);
  result.rounding = statistics::rounding_of(largest * crossing * terms, number);
  for (const auto& [name, cluster] : clusters) result.draws.push_back(cluster.added * crossing);
  return Result<ClusterContrast>(std::move(result));
}

}  // namespace stab::report
