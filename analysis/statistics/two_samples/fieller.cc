// Fieller, "Some problems in interval estimation", JRSS B 16 (1954). For each ratio rho the difference first - rho second has
// a mean of 0 where rho is the true one, and a t statistic; the interval is what the t test keeps, the solution of a
// quadratic inequality in rho. It is an interval only where the quadratic opens upwards: where the second mean is
// significantly away from 0.
#include "analysis/statistics/two_samples/fieller.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::statistics {
namespace {

// Means with the variances and the covariance of their estimates.
struct TwoMeans {
  double first = 0, second = 0;
  double var_first = 0, var_second = 0, covariance = 0;
};

Status solve(const TwoMeans& means, double critical, RatioOfMeans& result) {
  const double t2 = critical * critical;
  // rho^2 a - 2 rho b + c <= 0, in units of the second mean.
  const double a = 1 - t2 * (means.var_second / means.second) / means.second;
  if (!(a > 0))
    return bad_input("the second mean isn't told from 0 at this level, so that any ratio fits; add replicates or lower --conf");
  const double ratio = means.first / means.second;
  const double b = ratio - t2 * (means.covariance / means.second) / means.second;
  const double c = ratio * ratio - t2 * (means.var_first / means.second) / means.second;
  const double root = std::sqrt(std::max(0.0, b * b - a * c));
  result.estimate = ratio;
  result.conf_low = (b - root) / a;
  result.conf_high = (b + root) / a;
  return {};
}

}  // namespace

Result<RatioOfMeans> fieller(const Moments& first, const Moments& second, double rho, double conf) {
  if (second.n > 0 && second.mean == 0) return bad_input("the second mean is 0: there is no ratio");
  const WeightedCell at_rho[] = {{first, 1}, {second, -rho}};
  STAB_TRY(const TTest test, welch_contrast(at_rho, 0, Alternative::kTwoSided, conf));
  const WeightedCell at_estimate[] = {{first, 1}, {second, -first.mean / second.mean}};
  STAB_TRY(const TTest estimate, welch_contrast(at_estimate, 0, Alternative::kTwoSided, conf));
  RatioOfMeans result;
  result.statistic = test.statistic;
  result.p_value = test.p_value;
  result.test_df = test.df;
  result.df = estimate.df;
  const TwoMeans means{first.mean, second.mean, first.variance() / static_cast<double>(first.n),
                       second.variance() / static_cast<double>(second.n), 0};
  STAB_CHECK_OK(solve(means, t_quantile_upper((1 - conf) / 2, result.df), result));
  return result;
}

Result<RatioOfMeans> fieller_paired(std::span<const double> first, std::span<const double> second, double rho, double conf) {
  STAB_CHECK_OK(check_sample(first, 2, "a ratio of means"));
  const Moments x = moments(first), y = moments(second);
  if (y.mean == 0) return bad_input("the second mean is 0: there is no ratio");
  std::vector<double> differences(first.size());
  double largest = 0;
  long double products = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    differences[i] = first[i] - rho * second[i];
    largest = std::max({largest, std::fabs(first[i]), std::fabs(rho * second[i])});
    products += (static_cast<long double>(first[i]) - x.mean) * (static_cast<long double>(second[i]) - y.mean);
  }
  STAB_TRY(const TTest test, one_sample_t(differences, 0, Alternative::kTwoSided, conf, largest));
  RatioOfMeans result;
  result.statistic = test.statistic;
  result.p_value = test.p_value;
  result.df = result.test_df = test.df;
  const double scale = 1 / (static_cast<double>(x.n) * test.df);
  const TwoMeans means{x.mean, y.mean, x.m2 * scale, y.m2 * scale, static_cast<double>(products) * scale};
  STAB_CHECK_OK(solve(means, t_quantile_upper((1 - conf) / 2, result.df), result));
  return result;
}

}  // namespace stab::statistics
