// Run-order diagnostics. They look at residuals, so that the design's own effects don't count as drift.
#include "analysis/sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/descriptive.h"
#include "analysis/distributions.h"

namespace stab::analysis {

Result<SequenceTest> lag1_autocorrelation(std::span<const double> values) {
  STAB_CHECK_OK(check_sample(values, 10, "lag-1 autocorrelation"));
  const Moments all = moments(values);
  if (all.m2 <= 0) return bad_input("all values are equal: they have no correlation");
  double sum = 0;
  for (size_t i = 0; i + 1 < values.size(); ++i) sum += (values[i] - all.mean) * (values[i + 1] - all.mean);
  const auto n = static_cast<double>(values.size());
  SequenceTest test;
  test.statistic = sum / all.m2;
  test.p_value = 2 * normal_upper(std::sqrt(n) * std::fabs(test.statistic + 1 / n));
  return test;
}

Result<SequenceTest> drift(std::span<const double> values) {
  STAB_CHECK_OK(check_sample(values, 10, "drift"));
  if (constant(values)) return bad_input("all values are equal: there is no drift to test");
  const std::vector<double> ranks = average_ranks(values);
  const Moments rank_moments = moments(ranks);
  const auto n = static_cast<double>(values.size());
  double products = 0;
  for (size_t i = 0; i < ranks.size(); ++i)
    products += (ranks[i] - rank_moments.mean) * (static_cast<double>(i) - (n - 1) / 2);
  SequenceTest test;
  test.statistic = products / std::sqrt(rank_moments.m2 * n * (n * n - 1) / 12);
  const double r = std::clamp(test.statistic, -1.0, 1.0);
  test.p_value = r * r >= 1 ? 0 : t_two_sided(r * std::sqrt((n - 2) / (1 - r * r)), n - 2);
  return test;
}

double default_penalty(std::span<const double> values) {
  // Var(x_(i+1) - x_i) = 2 sigma^2; the median of |difference| resists the jumps at change points.
  if (values.size() < 3) return 0;
  std::vector<double> difference;
  for (size_t i = 0; i + 1 < values.size(); ++i) difference.push_back(values[i + 1] - values[i]);
  const double sigma = mad(difference) / std::sqrt(2.0);
  return 2 * std::log(static_cast<double>(values.size())) * sigma * sigma;
}

Result<std::vector<size_t>> change_points(std::span<const double> values, double penalty, size_t least_length) {
  STAB_CHECK_OK(check_sample(values, 2, "change points"));
  if (!(penalty > 0)) return bad_input("the penalty must be > 0; is the sequence constant?");
  const size_t least = std::max<size_t>(least_length, 1);
  const size_t n = values.size();
  const double origin = moments(values).mean;
  std::vector<long double> sum(n + 1, 0), squares(n + 1, 0);
  for (size_t i = 0; i < n; ++i) {
    const long double x = values[i] - origin;
    sum[i + 1] = sum[i] + x;
    squares[i + 1] = squares[i] + x * x;
  }
  const auto cost = [&](size_t from, size_t to) {  // of the segment [from, to)
    const long double s = sum[to] - sum[from];
    return static_cast<double>(squares[to] - squares[from] - s * s / static_cast<long double>(to - from));
  };
  // F(t): least cost of [0, t). A candidate that is already worse than F(t) without penalty can never win
  // again (their theorem 3.1), so it is pruned.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> best(n + 1, kInfinity);
  std::vector<size_t> previous(n + 1, 0);
  best[0] = -penalty;
  std::vector<size_t> candidates{0};
  for (size_t t = least; t <= n; ++t) {
    for (size_t from : candidates) {
      if (t - from < least) continue;
      const double total = best[from] + cost(from, t) + penalty;
      if (total < best[t]) {
        best[t] = total;
        previous[t] = from;
      }
    }
    // The newest split that step t + 1 may use. Pruning against it, not against t, keeps segments of the least
    // length exact.
    if (t + 1 < 2 * least) continue;
    const size_t newest = t + 1 - least;
    std::erase_if(candidates, [&](size_t from) {
      return newest - from >= least && best[from] + cost(from, newest) > best[newest];
    });
    if (std::isfinite(best[newest])) candidates.push_back(newest);
  }
  std::vector<size_t> changes;
  for (size_t t = n; previous[t] > 0; t = previous[t]) changes.push_back(previous[t]);
  std::reverse(changes.begin(), changes.end());
  return changes;
}

}  // namespace stab::analysis
