// Rows are multiplied by the root of their weight and taken within their group, so that the working model is that of ordinary
// least squares, independent rows of one variance. There leaving groups out of the adjustment changes nothing (Pustejovsky & Tipton
// 2018, theorem 2), and all that is asked of a cluster's rows is in two sums, S_i = X_i'X_i and b_i = X_i'y_i.
//
// With M the inverse of the sum of S_i, written M = L L', and K_i = L'S_i L, the adjustment of cluster i,
// A_i = (I - X_i M X_i')^(-1/2), acts on X_i L as X_i L (I - K_i)^(-1/2). So for a combination c and t = L'c:
//   score of cluster i      t'B_i L'(b_i - S_i beta)           with B_i = (I - K_i)^(-1/2)
//   CR2 variance            sum of squared scores
//   degrees of freedom      (sum p_ii)^2 / sum p_ij^2          with p_ij = [i = j] t'B_i K_i B_i t - t'B_i K_i K_j B_j t
#include "analysis/statistics/cluster_robust.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/statistics/descriptive.h"
#include "analysis/statistics/distributions.h"
#include "base/rng.h"

namespace stab::analysis {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Directions with less than this share of the largest are none. Columns are scaled to one length first.
constexpr double kNoDirection = 1e-10;
// What is left of a direction once its cluster is taken out, below which it is that cluster's alone: clubSandwich's.
constexpr double kOneClustersAlone = 1e-12;

// Takes each group's weighted mean out of a column that has been multiplied by the roots of the weights.
void take_groups_out(Vector& column, const std::vector<uint32_t>& groups, const Vector& roots, const std::vector<double>& weight_sums) {
  std::vector<double> sums(weight_sums.size());
  for (Eigen::Index row = 0; row < column.size(); ++row) sums[groups[static_cast<size_t>(row)]] += column[row] * roots[row];
  for (Eigen::Index row = 0; row < column.size(); ++row) {
    const uint32_t group = groups[static_cast<size_t>(row)];
    column[row] -= roots[row] * sums[group] / weight_sums[group];
  }
}

// L of the pseudo-inverse L L' of a scaled Gram matrix.
Matrix inverse_root(const Matrix& gram) {
  const Eigen::SelfAdjointEigenSolver<Matrix> parts(gram);
  const Vector& values = parts.eigenvalues();
  const double least = kNoDirection * std::max(values.size() ? values.maxCoeff() : 0.0, 1e-300);
  const auto first = std::find_if(values.begin(), values.end(), [&](double value) { return value > least; }) - values.begin();
  const Eigen::Index rank = values.size() - first;
  Matrix root = parts.eigenvectors().rightCols(rank);
  for (Eigen::Index j = 0; j < rank; ++j) root.col(j) /= std::sqrt(values[first + j]);
  return root;
}

bool said_of(const Matrix& gram, const Matrix& root, const Vector& combination) {
  return (combination - gram * (root * (root.transpose() * combination))).norm() <= 1e-6 * combination.norm();
}

Status check_shapes(const ClusteredRows& rows) {
  const size_t n = rows.response.size();
  if (n == 0) return bad_input("a clustered fit needs rows");
  if (rows.columns.empty()) return bad_input("a clustered fit needs a column");
  const auto fits = [&](const auto& values, bool may_be_empty) { return values.size() == n || (may_be_empty && values.empty()); };
  bool all = fits(rows.clusters, false) && fits(rows.weights, true) && fits(rows.groups, true);
  for (const Column& column : rows.columns) all = all && fits(column, false);
  if (!all) return bad_input("the columns of a clustered fit differ in length");
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  };
  all = finite(rows.response) && finite(rows.weights);
  for (const Column& column : rows.columns) all = all && finite(column);
  if (!all) return bad_input("a clustered fit needs finite numbers");
  for (const double weight : rows.weights)
    if (!(weight > 0)) return bad_input("weights of a clustered fit must be above 0");
  if (rows.groups.empty()) return {};
  std::vector<uint32_t> cluster_of(*std::max_element(rows.groups.begin(), rows.groups.end()) + size_t{1}, UINT32_MAX);
  for (size_t row = 0; row < n; ++row) {
    uint32_t& cluster = cluster_of[rows.groups[row]];
    if (cluster == UINT32_MAX) cluster = rows.clusters[row];
    if (cluster != rows.clusters[row]) return bad_input("a group of a clustered fit lies in two clusters");
  }
  return {};
}

}  // namespace

// invariant: grams and moments in units of `lengths`, the columns' lengths (1 where a column is 0 everywhere)
struct ClusterRobustFit::Sums {
  Vector lengths;
  std::vector<Matrix> grams;
  std::vector<Vector> moments;
  Matrix gram;          // sum of grams
  Matrix root;          // L
  Vector coefficients;
  std::vector<Matrix> within;     // K_i
  std::vector<Matrix> adjusters;  // B_i
  std::vector<Vector> residual;   // L'(b_i - S_i beta)
  std::vector<Matrix> roots_without;  // L of the other clusters' sum
  double response_squares = 0;
};

Result<ClusterRobustFit> ClusterRobustFit::of(const ClusteredRows& rows) {
  STAB_CHECK_OK(check_shapes(rows));
  const auto n = static_cast<Eigen::Index>(rows.response.size());
  const auto width = static_cast<Eigen::Index>(rows.columns.size());
  const size_t count = *std::max_element(rows.clusters.begin(), rows.clusters.end()) + size_t{1};
  std::vector<uint8_t> seen(count);
  for (const uint32_t cluster : rows.clusters) seen[cluster] = 1;
  if (count < 2 || std::find(seen.begin(), seen.end(), 0) != seen.end())
    return bad_input("cluster-robust errors need at least 2 clusters, each with rows; there " +
                     std::string(count == 1 ? "is 1" : "are fewer"));

  Vector roots = Vector::Ones(n);
  for (Eigen::Index row = 0; row < n && !rows.weights.empty(); ++row) roots[row] = std::sqrt(rows.weights[static_cast<size_t>(row)]);
  std::vector<double> weight_sums;
  if (!rows.groups.empty()) {
    weight_sums.resize(*std::max_element(rows.groups.begin(), rows.groups.end()) + size_t{1});
    for (Eigen::Index row = 0; row < n; ++row) weight_sums[rows.groups[static_cast<size_t>(row)]] += roots[row] * roots[row];
  }
  const auto prepared = [&](const std::vector<double>& values) {
    Vector column = Eigen::Map<const Vector>(values.data(), n).cwiseProduct(roots);
    if (!rows.groups.empty()) take_groups_out(column, rows.groups, roots, weight_sums);
    return column;
  };
  Matrix x(n, width);
  auto sums = std::make_shared<Sums>();
  sums->lengths = Vector::Ones(width);
  bool varies = false;
  for (Eigen::Index j = 0; j < width; ++j) {
    const std::vector<double>& given = rows.columns[static_cast<size_t>(j)];
    x.col(j) = prepared(given);
    const double before = Eigen::Map<const Vector>(given.data(), n).cwiseProduct(roots).norm();
    const double length = x.col(j).norm();
    if (length <= 1e-9 * before || length == 0) x.col(j).setZero();  // what is left is rounding
    else sums->lengths[j] = length, x.col(j) /= length, varies = true;
  }
  if (!varies) return bad_input("no column of a clustered fit varies within its groups");
  const Vector y = prepared(rows.response);
  sums->response_squares = y.squaredNorm();

  std::vector<std::vector<Eigen::Index>> members(count);
  for (Eigen::Index row = 0; row < n; ++row) members[rows.clusters[static_cast<size_t>(row)]].push_back(row);
  sums->gram = Matrix::Zero(width, width);
  Vector total = Vector::Zero(width);
  for (const auto& member : members) {
    const Matrix part = x(member, Eigen::all);
    sums->grams.push_back(part.transpose() * part);
    sums->moments.push_back(part.transpose() * y(member));
    sums->gram += sums->grams.back();
    total += sums->moments.back();
  }
  sums->root = inverse_root(sums->gram);
  sums->coefficients = sums->root * (sums->root.transpose() * total);
  for (size_t i = 0; i < count; ++i) {
    const Matrix within = sums->root.transpose() * sums->grams[i] * sums->root;
    const Eigen::SelfAdjointEigenSolver<Matrix> parts(within);
    Vector adjusted = parts.eigenvalues();
    for (double& value : adjusted) value = 1 - value > kOneClustersAlone ? 1 / std::sqrt(1 - value) : 0;
    sums->adjusters.push_back(parts.eigenvectors() * adjusted.asDiagonal() * parts.eigenvectors().transpose());
    sums->within.push_back(within);
    sums->roots_without.push_back(inverse_root(sums->gram - sums->grams[i]));
    sums->residual.push_back(sums->root.transpose() * (sums->moments[i] - sums->grams[i] * sums->coefficients));
  }
  ClusterRobustFit fit;
  fit.sums_ = std::move(sums);
  return fit;
}

size_t ClusterRobustFit::clusters() const { return sums_->grams.size(); }
size_t ClusterRobustFit::columns() const { return static_cast<size_t>(sums_->lengths.size()); }

Result<ClusterRobustEstimate> ClusterRobustFit::estimate(std::span<const double> combination) const {
  const Vector scaled =
      Eigen::Map<const Vector>(combination.data(), static_cast<Eigen::Index>(combination.size())).cwiseQuotient(sums_->lengths);
  if (!said_of(sums_->gram, sums_->root, scaled)) return bad_input("the rows say nothing of it apart from other effects");
  const size_t count = clusters();
  for (size_t i = 0; i < count; ++i)
    if (!said_of(sums_->gram - sums_->grams[i], sums_->roots_without[i], scaled))
      return bad_input("only one cluster says something of it");
  const Vector t = sums_->root.transpose() * scaled;
  ClusterRobustEstimate out;
  out.estimate = scaled.dot(sums_->coefficients);
  std::vector<double> own(count);
  std::vector<Vector> common(count);
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const Vector adjusted = sums_->adjusters[i] * t;
    common[i] = sums_->within[i] * adjusted;
    own[i] = adjusted.dot(common[i]);
    out.scores.push_back(adjusted.dot(sums_->residual[i]));
    squares += out.scores[i] * out.scores[i];
  }
  double trace = 0, pairs = 0;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      const double p = (i == j ? own[i] : 0) - common[i].dot(common[j]);
      if (i == j) trace += p;
      pairs += p * p;
    }
  }
  // What is left of a response that the columns explain entirely is rounding.
  if (squares <= 1e-24 * sums_->response_squares * t.squaredNorm()) return bad_input("its rows fit without any rest");
  out.standard_error = std::sqrt(squares);
  out.df = trace * trace / pairs;
  return out;
}

std::optional<double> ClusterRobustFit::recounted(std::span<const double> combination, std::span<const double> counts) const {
  Matrix gram = Matrix::Zero(sums_->gram.rows(), sums_->gram.cols());
  Vector total = Vector::Zero(gram.rows());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    gram += counts[i] * sums_->grams[i];
    total += counts[i] * sums_->moments[i];
  }
  const Vector scaled =
      Eigen::Map<const Vector>(combination.data(), static_cast<Eigen::Index>(combination.size())).cwiseQuotient(sums_->lengths);
  const Matrix root = inverse_root(gram);
  if (root.cols() == 0 || !said_of(gram, root, scaled)) return std::nullopt;
  return scaled.dot(root * (root.transpose() * total));
}

Result<BootstrapInterval> bca_clusters(size_t clusters, const ClusterStatistic& statistic, uint64_t resamples, double conf,
                                       uint64_t seed) {
  if (clusters < 5) return bad_input("a bootstrap of clusters needs at least 5 of them, there are " + std::to_string(clusters));
  if (resamples < 100 || resamples > 1'000'000)
    return bad_input("a bootstrap of clusters takes 100 to 1000000 resamples, not " + std::to_string(resamples));
  std::vector<double> counts(clusters, 1.0);
  const std::optional<double> whole = statistic(counts);
  if (!whole) return bad_input("the clusters together give no estimate");
  Rng rng = Rng::stream(seed, "bootstrap-clusters");
  std::vector<double> replicates;
  const uint64_t most_draws = resamples + resamples / 10 + 1;
  for (uint64_t draw = 0; draw < most_draws && replicates.size() < resamples; ++draw) {
    std::fill(counts.begin(), counts.end(), 0.0);
    for (size_t i = 0; i < clusters; ++i) ++counts[rng.below(clusters)];
    if (const std::optional<double> value = statistic(counts)) replicates.push_back(*value);
  }
  if (replicates.size() < resamples) return bad_input("a tenth of the resamples give no estimate: a cluster or two carry it alone");
  std::vector<double> influence;
  for (size_t left_out = 0; left_out < clusters; ++left_out) {
    std::fill(counts.begin(), counts.end(), 1.0);
    counts[left_out] = 0;
    const std::optional<double> without = statistic(counts);
    if (!without) return bad_input("without one of the clusters there is no estimate");
    influence.push_back(*without);
  }
  return bca_interval(*whole, std::move(replicates), std::move(influence), conf);
}

}  // namespace stab::analysis
