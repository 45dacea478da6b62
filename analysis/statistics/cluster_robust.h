// Weighted least squares whose errors may depend on each other within clusters in any way: the covariance CR2 (Bell & McCaffrey
// 2002, "Bias reduction in standard errors for linear regression with multi-stage samples") with the degrees of freedom of
// Satterthwaite, as Pustejovsky & Tipton (2018, "Small-sample methods for cluster-robust variance estimation and hypothesis testing
// in fixed effects models") have them. Made for few clusters, which plain sandwiches can't be used with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "analysis/statistics/linear_model.h"
#include "analysis/statistics/resampling.h"
#include "base/result.h"

namespace stab::analysis {

// invariant: all columns, response, clusters and, where they aren't empty, weights and groups are of one length; weights > 0
struct ClusteredRows {
  std::vector<Column> columns;     // regressors. An intercept is a column of ones, and left out where groups are absorbed
  std::vector<double> response;
  std::vector<double> weights;     // the working model: a row's variance is in proportion to 1 / weight. Empty: all are equal
  std::vector<uint32_t> clusters;  // from 0
  // Each group gets an effect of its own that nobody asks for: taken out, not estimated. From 0. Empty: none.
  // invariant: all rows of a group are of one cluster
  std::vector<uint32_t> groups;
};

// A linear combination of the coefficients.
struct ClusterRobustEstimate {
  double estimate = 0;
  double standard_error = 0;
  double df = 0;
  // What each cluster contributes: their squares add up to standard_error^2. So combinations with other statistics of the
  // same clusters (the delta method) take covariances along.
  std::vector<double> scores;
};

class ClusterRobustFit {
 public:
  // kBadInput: shapes that don't fit, numbers that aren't finite, fewer than 2 clusters, a group in two clusters, nothing that
  // varies within groups.
  static Result<ClusterRobustFit> of(const ClusteredRows& rows);

  size_t clusters() const;
  size_t columns() const;

  // kBadInput: the data say nothing of it (it is confounded with groups or with other columns), or only one cluster does, or the
  // rows fit perfectly. pre: combination.size() == columns()
  Result<ClusterRobustEstimate> estimate(std::span<const double> combination) const;

  // The estimate alone with each cluster counted so often: 0 leaves it out. Absent where it can't be estimated so.
  // pre: counts.size() == clusters()
  std::optional<double> recounted(std::span<const double> combination, std::span<const double> counts) const;

 private:
  struct Sums;
  std::shared_ptr<const Sums> sums_;
};

// Efron's BCa interval (1987) of a statistic of clusters, which are drawn with replacement: statistic(counts) has cluster c
// counts[c] times. Acceleration by leaving clusters out in turn. A draw without a value is drawn again; refused where a tenth of them have none.
// kBadInput: fewer than 5 clusters, or as bca_bootstrap().
using ClusterStatistic = std::function<std::optional<double>(std::span<const double> counts)>;
Result<BootstrapInterval> bca_clusters(size_t clusters, const ClusterStatistic& statistic, uint64_t resamples, double conf,
                                       uint64_t seed);

}  // namespace stab::analysis
