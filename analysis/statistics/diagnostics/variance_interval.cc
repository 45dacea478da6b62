// (n - 1) s^2 / sigma^2 is chi-squared for normal values only, at any n: with heavy tails the interval is too narrow however
// many values there are. Bonett's interval on the logarithm puts the kurtosis in, estimated around a trimmed mean, so that
// skewness doesn't hide it.
#include "analysis/statistics/diagnostics/variance_interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::statistics {
namespace {

// R's mean(x, trim): this share of the values is left off at each end. pre: trim < 0.5
double trimmed_mean(std::vector<double> values, double trim) {
  std::sort(values.begin(), values.end());
  const auto off = static_cast<size_t>(std::floor(static_cast<double>(values.size()) * trim));
  return mean(std::span(values).subspan(off, values.size() - 2 * off));
}

// Bonett, Computational Statistics & Data Analysis 50 (2006), eq. 6 to 8.
std::optional<ConfidenceInterval> bonett(std::span<const double> values, const Moments& sample, double conf) {
  const auto n = static_cast<double>(sample.n);
  const double z = normal_quantile(0.5 + conf / 2);
  if (sample.n < 5 || n <= z) return std::nullopt;
  const double centre = trimmed_mean({values.begin(), values.end()}, 1 / (2 * std::sqrt(n - 4)));
  const double root = std::sqrt(sample.m2);
  double fourths = 0;  // of deviations over the root of their squares: neither overflows nor underflows
  for (double value : values) {
    const double share = (value - centre) / root;
    fourths += share * share * share * share;
  }
  const double kurtosis = n * fourths;
  const double c = n / (n - z);
  const double spread = (kurtosis - (n - 3) / n) / (n - 1);
  if (!(spread > 0)) return std::nullopt;
  const double reach = z * c * std::sqrt(spread);
  return ConfidenceInterval{c * sample.variance() * std::exp(-reach), c * sample.variance() * std::exp(reach)};
}

}  // namespace

Result<VarianceInterval> variance_interval(std::span<const double> values, double conf) {
  STAB_CHECK_OK(check_sample(values, 2, "the interval of a variance"));
  if (constant(values)) return bad_input("all values are equal: they have no variance");
  STAB_CHECK_OK(check_squares(values));
  const Moments sample = moments(values);
  VarianceInterval result;
  result.estimate = sample.variance();
  result.df = static_cast<double>(sample.n - 1);
  result.normal = {sample.m2 / chi_squared_quantile_upper((1 - conf) / 2, result.df),
                   sample.m2 / chi_squared_quantile((1 - conf) / 2, result.df)};
  result.robust = bonett(values, sample, conf);
  return result;
}

}  // namespace stab::statistics
