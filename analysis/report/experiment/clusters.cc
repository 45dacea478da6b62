// What a cluster adds to a combination sum c_i mean_i is v = sum over its cells of c_i y_i / G_i, G_i the clusters of cell i.
// The combination is the sum of all v, and clusters are independent: its variance is the sum of theirs.
//
// Of two clusters in one cell and twelve in another the two are nearly all of the error. Where they happen to lie close together,
// degrees of freedom that come from the variances seen are those of the twelve. So they are never more than those that the
// arrangement alone gives, with the same variance in all cells (Bell & McCaffrey 2002).
#include "analysis/report/experiment/clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/statistics/distributions/satterthwaite.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/rank_tests.h"

namespace stab::report {
namespace {

// invariant: cells ascending, one value for each
struct Cluster {
  std::vector<size_t> cells;
  double added = 0;      // to the combination
  double deviation = 0;  // the same of its deviations from the cells' means, each made as large as it would be without the mean
};

// A cell, as far as the error of a combination goes.
struct Held {
  double share = 0;     // (c_i / G_i)^2: of the variance of one of its values, in that of the combination
  double clusters = 0;  // G_i
  double variance = 0;  // of its values
};

// The clusters that hold the same cells, by these.
using Groups = std::map<std::vector<size_t>, std::vector<double>>;

// What clusters of one group add varies alike. These are Satterthwaite's with the same variance in all cells, whatever was seen.
double design_df(const Groups& groups, const std::vector<Held>& cells) {
  statistics::VarianceSum parts;
  for (const auto& [in, added] : groups) {
    double variance = 0;
    for (const size_t cell : in) variance += cells[cell].share;
    const auto count = static_cast<double>(added.size());
    parts.add(count * variance, count - 1);
  }
  return parts.df();
}

// Satterthwaite's of sum a_g^2, a_g a cluster's `deviation`: 2 E^2 / Var (Bell & McCaffrey 2002), where values are independent
// and of variances[i] in cell i. The covariance of a_g and a_h is then -sum w_i / (G_i - 1) over the cells of both, w_i = share_i
// variances[i], and the variance of a_g is sum w_i over its cells.
double deviations_df(const Groups& groups, const std::vector<Held>& cells, const std::vector<double>& variances) {
  std::vector<double> weights(cells.size());
  double largest = 0;
  for (size_t i = 0; i < cells.size(); ++i) largest = std::max(largest, weights[i] = cells[i].share * variances[i]);
  if (!(largest > 0)) return 0;
  double expected = 0, squares = 0;
  std::map<std::pair<size_t, size_t>, double> in_both;
  for (size_t i = 0; i < cells.size(); ++i) expected += (weights[i] /= largest) * cells[i].clusters;
  for (const auto& [in, added] : groups)
    for (const size_t i : in)
      for (const size_t j : in) in_both[{i, j}] += static_cast<double>(added.size());
  for (const auto& [pair, count] : in_both) {
    const Held &first = cells[pair.first], &second = cells[pair.second];
    const double apart = (count - 1) / ((first.clusters - 1) * (second.clusters - 1));
    squares += weights[pair.first] * weights[pair.second] * count * (1 + apart);
  }
  return expected * expected / squares;
}

}  // namespace

std::optional<Result<ClusterContrast>> cluster_contrast(const CellCoefficients& coefficients, double alpha) {
  std::map<uint32_t, Cluster> clusters;
  ClusterContrast result;
  result.clusters = UINT64_MAX;
  size_t number = 0;
  double largest = 0;
  std::vector<Held> held;
  for (const auto& [cell, coefficient] : coefficients) {
    if (cell->clusters.empty()) return {};
    const auto count = static_cast<double>(cell->values.size());
    held.push_back({coefficient / count * (coefficient / count), count, count > 1 ? cell->moments.variance() : 0});
    const double whole = count > 1 ? std::sqrt(count / (count - 1)) : 1;
    for (size_t i = 0; i < cell->values.size(); ++i) {
      Cluster& cluster = clusters[cell->clusters[i]];
      cluster.cells.push_back(number);
      cluster.added += coefficient * cell->values[i] / count;
      cluster.deviation += whole * coefficient * (cell->values[i] - cell->moments.mean) / count;
      largest = std::max(largest, std::fabs(coefficient * cell->values[i] / count));
    }
    result.clusters = std::min<uint64_t>(result.clusters, cell->values.size());
    ++number;
  }
  Groups groups;
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
    df = std::min(parts.df(), design_df(groups, held));
    for (const auto& [name, cluster] : clusters) {
      const statistics::Moments& group = of_group[cluster.cells];
      result.shared.parts[name] =
          (cluster.added - group.mean) * std::sqrt(static_cast<double>(group.n) / static_cast<double>(group.n - 1));
    }
  } else if (result.clusters >= 2) {
    for (const auto& [name, cluster] : clusters) {
      variance += cluster.deviation * cluster.deviation;
      result.shared.parts[name] = cluster.deviation;
    }
    std::vector<double> seen;
    for (const Held& cell : held) seen.push_back(cell.variance);
    df = std::min(deviations_df(groups, held, seen), deviations_df(groups, held, std::vector<double>(held.size(), 1)));
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
