// Means, spreads and quantiles. Sums run in extended precision and in two passes, because run times in
// nanoseconds have means far larger than their spreads. Tests are elsewhere, one file a family.
#include "analysis/statistics/two_samples/descriptive.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::statistics {

double Moments::sd() const { return std::sqrt(variance()); }
double Moments::standard_error() const { return std::sqrt(variance() / static_cast<double>(n)); }

Moments moments(std::span<const double> values) {
  if (values.empty()) return {};
  // Deviations from the first value are exact or nearly so when the values are close together.
  const double origin = values[0];
  long double sum = 0;
  for (double value : values) sum += static_cast<long double>(value) - origin;
  const auto n = static_cast<long double>(values.size());
  const long double shift = sum / n;
  long double m2 = 0;
  long double rest = 0;  // what rounding left of the first-order sum: Chan, Golub & LeVeque (1983), eq. 1.7
  for (double value : values) {
    const long double deviation = static_cast<long double>(value) - origin - shift;
    m2 += deviation * deviation;
    rest += deviation;
  }
  m2 -= rest * rest / n;
  return {values.size(), static_cast<double>(origin + shift), static_cast<double>(std::max(m2, 0.0L))};
}

Moments merge(const Moments& a, const Moments& b) {
  if (a.n == 0) return b;
  if (b.n == 0) return a;
  const double n = static_cast<double>(a.n + b.n);
  const double delta = b.mean - a.mean;
  // Chan, Golub & LeVeque (1983), eq. 2.1.
  return {a.n + b.n, a.mean + delta * static_cast<double>(b.n) / n,
          a.m2 + b.m2 + delta * delta * static_cast<double>(a.n) * static_cast<double>(b.n) / n};
}

double mean(std::span<const double> values) { return moments(values).mean; }

double median(std::span<const double> values) { return quantile(values, 0.5); }

double quantile_sorted(std::span<const double> sorted, double p) {
  const double h = static_cast<double>(sorted.size() - 1) * p;
  const auto below = static_cast<size_t>(h);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double fraction = h - static_cast<double>(below);
  if (fraction == 0) return sorted[below];
  return (1 - fraction) * sorted[below] + fraction * sorted[below + 1];
}

double quantile(std::span<const double> values, double p) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_sorted(sorted, p);
}

double quantile_type(std::span<const double> values, double p, int type) {
  std::vector<double> x(values.begin(), values.end());
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  if (type == 7) return quantile_sorted(x, p);
  const auto at = [&x](double index) {  // order statistic, index from 1, clamped to the sample
    const double last = static_cast<double>(x.size());
    return x[static_cast<size_t>(std::clamp(index, 1.0, last)) - 1];
  };
  // Hyndman & Fan (1996), table 1. R's fuzz of 4 ulp keeps n p that should be whole from missing its step.
  constexpr double kFuzz = 4 * 2.220446049250313e-16;
  if (type <= 3) {
    const double nppm = type == 3 ? n * p - 0.5 : n * p;
    const double j = std::floor(nppm + kFuzz);
    const bool above = nppm > j + kFuzz;
    double weight = above ? 1 : 0;
    if (type == 2 && !above) weight = 0.5;
    if (type == 3 && !above) weight = std::fmod(j, 2) == 0 ? 0 : 1;
    return (1 - weight) * at(j) + weight * at(j + 1);
  }
  double a = 0, b = 0;
  switch (type) {
    case 4: a = 0, b = 1; break;
    case 5: a = b = 0.5; break;
    case 6: a = b = 0; break;
    case 8: a = b = 1.0 / 3; break;
    default: a = b = 3.0 / 8; break;
  }
  const double nppm = a + p * (n + 1 - a - b);
  const double j = std::floor(nppm + kFuzz);
  double weight = nppm - j;
  if (std::fabs(weight) < kFuzz) weight = 0;
  return (1 - weight) * at(j) + weight * at(j + 1);
}

double mad(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> distance(values.size());
  std::transform(values.begin(), values.end(), distance.begin(),
                 [centre](double value) { return std::fabs(value - centre); });
  return 1.4826 * median(distance);
}

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty() || std::any_of(values.begin(), values.end(), [](double v) { return v <= 0; }))
    return std::nullopt;
  long double sum = 0;
  for (double value : values) sum += std::log(value);
  return std::exp(static_cast<double>(sum / static_cast<long double>(values.size())));
}

ConfidenceInterval mean_interval(const Moments& moments, double conf) {
  const double half =
      t_quantile_upper((1 - conf) / 2, static_cast<double>(moments.n - 1)) * moments.standard_error();
  return {moments.mean - half, moments.mean + half};
}

std::optional<ConfidenceInterval> median_interval(std::span<const double> values, double conf) {
  const size_t n = values.size();
  // The largest k with 2 P(Bin(n, 1/2) < k) <= 1 - conf; the interval is [x_(k), x_(n+1-k)]. Sums are in units of 2^unit,
  // which grows with them: 2^-n is less than a long double holds from n = 16446 on.
  constexpr int kStep = 8192;
  long double term = 1, below = 1;
  int unit = -static_cast<int>(n);
  size_t k = 0;
  while (k < n / 2 && std::ldexp(2 * below, unit) <= 1 - static_cast<long double>(conf)) {
    ++k;
    term *= static_cast<long double>(n - k + 1) / static_cast<long double>(k);
    below += term;
    if (below < std::ldexp(1.0L, kStep)) continue;
    term = std::ldexp(term, -kStep);
    below = std::ldexp(below, -kStep);
    unit += kStep;
  }
  if (k == 0) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return ConfidenceInterval{sorted[k - 1], sorted[n - k]};
}

std::vector<double> average_ranks(std::span<const double> values, double* tie_sum) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  double ties = 0;
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double rank = 0.5 * static_cast<double>(first + 1 + end);
    for (size_t i = first; i < end; ++i) ranks[order[i]] = rank;
    const auto tied = static_cast<double>(end - first);
    ties += tied * tied * tied - tied;
    first = end;
  }
  if (tie_sum) *tie_sum = ties;
  return ranks;
}

Status check_sample(std::span<const double> values, size_t least, std::string_view method) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::fabs(values[i]) <= kLargestValue) continue;
    if (std::isfinite(values[i]))
      return bad_input("value " + std::to_string(i + 1) + " is so large that its square overflows; rescale the column");
    return bad_input("value " + std::to_string(i + 1) + " is " + (std::isnan(values[i]) ? "NaN" : "infinite") +
                     "; remove the row or repair the measurement");
  }
  if (values.size() < least)
    return bad_input(std::string(method) + " needs at least " + std::to_string(least) + " values, got " +
                     std::to_string(values.size()) + "; add replicates");
  return {};
}

Status check_squares(std::span<const double> values) {
  if (values.empty() || constant(values) || moments(values).m2 >= std::numeric_limits<double>::min()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  char range[32];
  std::snprintf(range, sizeof range, "%.3g", *most - *least);
  return bad_input("the values differ by no more than " + std::string(range) + ", whose square underflows; rescale the column");
}

Error no_spread(std::string_view of) {
  return bad_input("the " + std::string(of) +
                   " don't vary, or by less than 1e-154, whose square underflows: without spread there is nothing to test "
                   "against");
}

bool constant(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; });
}

}  // namespace stab::statistics
