// Shapiro-Wilk and Anderson-Darling. Both compare the ordered sample with what a normal one would give: the
// first by regression on expected order statistics, the second by the distance of distribution functions with
// weight on the tails.
#include "analysis/statistics/diagnostics/normality.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::statistics {
namespace {

template <size_t N>
double polynomial(const double (&coefficients)[N], double x) {
  double value = 0;
  for (size_t i = N; i > 0; --i) value = value * x + coefficients[i - 1];
  return value;
}

// The weights a of the upper half, largest order statistic first. AS R94, section "Calculation of a": the
// outermost one or two from polynomials in 1/sqrt(n), the others proportional to Blom's scores m.
std::vector<double> shapiro_weights(size_t n) {
  if (n == 3) return {std::sqrt(0.5)};
  static constexpr double kC1[] = {0, .221157, -.147981, -2.071190, 4.434685, -2.706056};
  static constexpr double kC2[] = {0, .042981, -.293762, -1.752461, 5.682633, -3.582633};
  const size_t half = n / 2;
  std::vector<double> m(half), a(half);
  double sum = 0;
  for (size_t i = 0; i < half; ++i) {
    m[i] = normal_quantile((static_cast<double>(i + 1) - 0.375) / (static_cast<double>(n) + 0.25));
    sum += m[i] * m[i];
  }
  sum *= 2;
  const double root = std::sqrt(sum);
  const double x = 1 / std::sqrt(static_cast<double>(n));
  a[0] = polynomial(kC1, x) - m[0] / root;
  size_t first = 1;
  double factor = 0;
  if (n > 5) {
    a[1] = polynomial(kC2, x) - m[1] / root;
    first = 2;
    factor = std::sqrt((sum - 2 * m[0] * m[0] - 2 * m[1] * m[1]) / (1 - 2 * a[0] * a[0] - 2 * a[1] * a[1]));
  } else {
    factor = std::sqrt((sum - 2 * m[0] * m[0]) / (1 - 2 * a[0] * a[0]));
  }
  for (size_t i = first; i < half; ++i) a[i] = -m[i] / factor;
  return a;
}

// p of W through a normalizing transform. AS R94, "Significance level".
double shapiro_p(double one_minus_w, size_t size) {
  const auto n = static_cast<double>(size);
  if (size == 3) {
    // Exact: Shapiro & Wilk (1965), 6/pi (asin sqrt W - asin sqrt(3/4)).
    constexpr double kSixOverPi = 1.90985931710274;
    constexpr double kAsin = 1.04719755119660;
    return std::clamp(kSixOverPi * (std::asin(std::sqrt(1 - one_minus_w)) - kAsin), 0.0, 1.0);
  }
  static constexpr double kC3[] = {.5440, -.39978, .025054, -6.714e-4};
  static constexpr double kC4[] = {1.3822, -.77857, .062767, -.0020322};
  static constexpr double kC5[] = {-1.5861, -.31082, -.083751, .0038915};
  static constexpr double kC6[] = {-.4803, -.082676, .0030302};
  static constexpr double kG[] = {-2.273, .459};
  double y = std::log(one_minus_w);
  if (size <= 11) {
    const double gamma = polynomial(kG, n);
    if (y >= gamma) return 1e-99;  // beyond the transform's range, as AS R94 returns
    y = -std::log(gamma - y);
    return normal_upper((y - polynomial(kC3, n)) / std::exp(polynomial(kC4, n)));
  }
  const double x = std::log(n);
  return normal_upper((y - polynomial(kC5, x)) / std::exp(polynomial(kC6, x)));
}

}  // namespace

Result<NormalityTest> shapiro_wilk(std::span<const double> values) {
  STAB_CHECK_OK(check_sample(values, 3, "shapiro-wilk"));
  if (values.size() > 5000)
    return bad_input("shapiro-wilk takes at most 5000 values, got " + std::to_string(values.size()) +
                     "; use anderson-darling");
  if (constant(values)) return bad_input("all values are equal: there is no shape to test");
  std::vector<double> x(values.begin(), values.end());
  std::sort(x.begin(), x.end());
  const size_t n = x.size();
  const double centre = quantile_sorted(x, 0.5);
  const double range = x.back() - x.front();
  for (double& value : x) value = (value - centre) / range;
  const std::vector<double> a = shapiro_weights(n);
  const double average = mean(x);
  // W is a squared correlation; 1 - W is formed as a product so that W near 1 keeps its digits. The weights
  // sum to zero by symmetry.
  double weight_squares = 0, squares = 0, products = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t mirror = n - 1 - i;
    double weight = 0;
    if (i < mirror) weight = -a[i];
    if (i > mirror) weight = a[mirror];
    const double deviation = x[i] - average;
    weight_squares += weight * weight;
    squares += deviation * deviation;
    products += weight * deviation;
  }
  const double root = std::sqrt(weight_squares * squares);
  const double one_minus_w = (root - products) * (root + products) / (weight_squares * squares);
  const double w = 1 - one_minus_w;
  return NormalityTest{w, w, shapiro_p(std::max(one_minus_w, 1e-300), n)};
}

Result<NormalityTest> anderson_darling(std::span<const double> values) {
  STAB_CHECK_OK(check_sample(values, 8, "anderson-darling"));
  if (constant(values)) return bad_input("all values are equal: there is no shape to test");
  std::vector<double> x(values.begin(), values.end());
  std::sort(x.begin(), x.end());
  const Moments sample = moments(x);
  const double sd = sample.sd();
  const auto n = static_cast<double>(x.size());
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double low = normal_cdf((x[i] - sample.mean) / sd);
    const double high = normal_upper((x[x.size() - 1 - i] - sample.mean) / sd);
    sum += (2 * static_cast<double>(i) + 1) * (std::log(low) + std::log(high));
  }
  const double a2 = -n - sum / n;
  const double aa = a2 * (1 + 0.75 / n + 2.25 / (n * n));
  double p = 0;
  if (!std::isfinite(aa)) return bad_input("a value lies too far out for anderson-darling; look at it first");
  if (aa < 0.2) p = 1 - std::exp(-13.436 + 101.14 * aa - 223.73 * aa * aa);
  else if (aa < 0.34) p = 1 - std::exp(-8.318 + 42.796 * aa - 59.938 * aa * aa);
  else if (aa < 0.6) p = std::exp(0.9177 - 4.279 * aa - 1.38 * aa * aa);
  else if (aa < 10) p = std::exp(1.2937 - 5.709 * aa + 0.0186 * aa * aa);
  else p = 3.7e-24;  // the formulas end here; the p-value is at most this
  return NormalityTest{a2, aa, p};
}

}  // namespace stab::statistics
