// Simultaneous comparisons of means with a pooled variance. For the lab's own cells, whose variances differ, the
// report uses Welch contrasts with Holm instead; these are what R users expect on ordinary data.
#include "analysis/statistics/families/comparisons.h"

#include <cmath>
#include <limits>
#include <string>

#include "analysis/statistics/distributions/studentized.h"

namespace stab::statistics {
namespace {

struct Pooled {
  double variance = 0;
  double df = 0;
};

Result<Pooled> pool(const std::vector<Moments>& groups) {
  if (groups.size() < 2) return bad_input("needs at least 2 groups, got " + std::to_string(groups.size()));
  double squares = 0, n = 0;
  for (const Moments& group : groups) {
    if (group.n == 0) return bad_input("a group has no values");
    squares += group.m2;
    n += static_cast<double>(group.n);
  }
  const double df = n - static_cast<double>(groups.size());
  if (df < 1) return bad_input("each group has one value: no degrees of freedom are left; add replicates");
  if (squares <= 0) return no_spread("values of each group");
  return Pooled{squares / df, df};
}

Comparison compare(const std::vector<Moments>& groups, size_t first, size_t second, double variance) {
  Comparison comparison;
  comparison.first = first;
  comparison.second = second;
  comparison.estimate = groups[first].mean - groups[second].mean;
  comparison.standard_error = std::sqrt(
      variance * (1 / static_cast<double>(groups[first].n) + 1 / static_cast<double>(groups[second].n)));
  comparison.statistic = comparison.estimate / comparison.standard_error;
  return comparison;
}

}  // namespace

Result<PairwiseComparisons> tukey_hsd(const std::vector<Moments>& groups, double conf) {
  STAB_TRY(const Pooled pooled, pool(groups));
  const auto means = static_cast<double>(groups.size());
  PairwiseComparisons result;
  result.df = pooled.df;
  result.critical = studentized_range_quantile(1 - conf, means, pooled.df) / std::sqrt(2.0);
  for (size_t second = 0; second < groups.size(); ++second) {
    for (size_t first = second + 1; first < groups.size(); ++first) {
      Comparison comparison = compare(groups, first, second, pooled.variance);
      comparison.conf_low = comparison.estimate - result.critical * comparison.standard_error;
      comparison.conf_high = comparison.estimate + result.critical * comparison.standard_error;
      comparison.p_value =
          studentized_range_upper(std::fabs(comparison.statistic) * std::sqrt(2.0), means, pooled.df);
      result.comparisons.push_back(comparison);
    }
  }
  return result;
}

Result<PairwiseComparisons> dunnett(const std::vector<Moments>& groups, size_t control, Alternative alternative,
                                    double conf) {
  STAB_TRY(const Pooled pooled, pool(groups));
  std::vector<double> lambda;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i == control) continue;
    const auto n = static_cast<double>(groups[i].n), n0 = static_cast<double>(groups[control].n);
    lambda.push_back(std::sqrt(n / (n + n0)));
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool two_sided = alternative == Alternative::kTwoSided;
  PairwiseComparisons result;
  result.df = pooled.df;
  result.critical = dunnett_quantile(1 - conf, lambda, pooled.df, two_sided);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i == control) continue;
    Comparison comparison = compare(groups, i, control, pooled.variance);
    const double half = result.critical * comparison.standard_error;
    comparison.conf_low = alternative == Alternative::kLess ? -kInfinity : comparison.estimate - half;
    comparison.conf_high = alternative == Alternative::kGreater ? kInfinity : comparison.estimate + half;
    double q = std::fabs(comparison.statistic);
    if (alternative == Alternative::kLess) q = -comparison.statistic;
    if (alternative == Alternative::kGreater) q = comparison.statistic;
    comparison.p_value = dunnett_upper(q, lambda, pooled.df, two_sided);
    result.comparisons.push_back(comparison);
  }
  return result;
}

}  // namespace stab::statistics
