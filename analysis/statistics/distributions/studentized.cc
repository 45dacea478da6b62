// Both distributions are a normal probability of w = q s, averaged over the density of s = chi / sqrt(df), and the
// normal probability is itself one integral. All integrands are analytic and die off fast on both sides, where
// the plain trapezoidal rule converges exponentially (Trefethen & Weideman, SIAM Review 56, 2014); the steps
// below leave errors under 1e-14. Upper tails are integrated directly as sums of positive terms, so that small
// p-values keep their digits.
#include "analysis/statistics/distributions/studentized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/distributions/root.h"

namespace stab::statistics {
namespace {

// E[tail(q s)] over s = chi_df / sqrt(df), with s = exp(u):
// density of u is 2 (df/2)^(df/2) / Gamma(df/2) exp(df u - df exp(2u) / 2).
double over_chi(double q, double df, const std::function<double(double)>& tail) {
  if (std::isinf(df) || df > 1e7) return tail(q);
  const double log_scale = std::log(2.0) + df / 2 * std::log(df / 2) - log_gamma(df / 2);
  const double step = std::min(0.12, 0.4 / std::sqrt(2 * df));  // 0.4 standard deviations of u
  const auto term = [&](double u) {
    const double log_density = log_scale + df * (u - std::exp(2 * u) / 2);
    if (log_density < -700) return 0.0;
    return std::exp(log_density) * tail(q * std::exp(u));
  };
  constexpr double kNegligible = 1e-18;
  double sum = term(0);
  for (double u = step; u < 6; u += step) {
    const double t = term(u);
    sum += t;
    if (sum > 0 && t < kNegligible * sum) break;
  }
  for (double u = -step; u > -720 / df - 2; u -= step) {
    const double t = term(u);
    sum += t;
    if (sum > 0 && t < kNegligible * sum) break;
  }
  return std::min(1.0, sum * step);
}

// P(range of k normals > w) = k integral phi(z) [Q(z)^(k-1) - (Q(z) - Q(z+w))^(k-1)] dz, z the least of them, Q
// the upper tail. What depends on z and k alone is computed once for all w: the grid is the same.
class Range {
 public:
  explicit Range(double k) : k_(k) {
    for (int i = 0; i < kPoints; ++i) {
      const double z = at(i), all = normal_upper(z);
      points_[static_cast<size_t>(i)] = {all, normal_density(z) * std::pow(all, k - 1)};
    }
  }
  double upper(double w) const {
    double sum = 0;
    // From well below the middle of the two ends, where the least one lies if the range is as wide as w.
    const double first = std::max(0.0, (-w / 2 - 9 - kLeast) / kStep);
    for (int i = static_cast<int>(first); i < kPoints; ++i) {
      const auto [all, weight] = points_[static_cast<size_t>(i)];
      const double z = at(i), beyond = std::min(normal_upper(z + w) / all, 1.0);
      const double share = beyond >= 1 ? 1 : -std::expm1((k_ - 1) * std::log1p(-beyond));
      const double term = weight * share;
      sum += term;
      constexpr double kNegligible = 1e-18;
      if (z > 0 && term < kNegligible * sum) break;  // and falls from here on
    }
    return std::min(1.0, k_ * sum * kStep);
  }

 private:
  static constexpr double kStep = 0.15;
  static constexpr double kLeast = -39;  // the density is 0 below it
  static constexpr int kPoints = 320;    // up to 9
  static double at(int i) { return kLeast + kStep * i; }
  struct Point {
    double all = 0, weight = 0;
  };
  double k_;
  std::array<Point, kPoints> points_;
};

double dunnett_normal_upper(double w, std::span<const double> lambda, bool two_sided) {
  double narrowest = 1;
  for (double l : lambda) narrowest = std::min(narrowest, std::sqrt((1 - l) * (1 + l)));
  const double step = std::min(0.15, 0.4 * narrowest);
  // Far in the tail the mass sits where the shared part y is large, around lambda w.
  constexpr double kNothing = 39;  // beyond it the density of y is 0
  const double reach = std::min(9 + std::fabs(w), kNothing);
  double sum = 0;
  for (double y = two_sided ? 0.0 : -reach; y < reach; y += step) {
    double log_inside = 0;
    for (double l : lambda) {
      const double rest = std::sqrt((1 - l) * (1 + l));
      double outside = normal_upper((w - l * y) / rest);
      if (two_sided) outside += normal_upper((w + l * y) / rest);
      log_inside += std::log1p(-std::min(outside, 1.0));
    }
    // Two-sided: symmetric in y, half of the line counted twice.
    const double weight = two_sided ? (y == 0 ? 1 : 2) : 1;
    sum += weight * normal_density(y) * -std::expm1(log_inside);
  }
  return std::min(1.0, sum * step);
}

// Solves upper_of(q) = upper for decreasing upper_of, from `low` on; where that is negative, what lies below it, too.
double solve(double upper, double low, const std::function<double(double)>& upper_of) {
  double high = 4;
  while (low < 0 && upper_of(low) < upper && low > -1e8) {
    high = low;
    low *= 2;
  }
  while (upper_of(high) > upper && high < 1e8) {
    low = high;
    high *= 2;
  }
  const auto excess = [&](double q) { return std::log(std::max(upper_of(q), 1e-300)) - std::log(upper); };
  return falling_root(excess, low, high, {});
}

}  // namespace

double studentized_range_upper(double q, double means, double df) {
  if (q <= 0) return 1;
  const Range range(means);
  return over_chi(q, df, [&](double w) { return range.upper(w); });
}

double studentized_range_quantile(double upper, double means, double df) {
  return solve(upper, 0, [=](double q) { return studentized_range_upper(q, means, df); });
}

double dunnett_upper(double q, std::span<const double> lambda, double df, bool two_sided) {
  if (two_sided && q <= 0) return 1;
  if (q < 0) {
    // One-sided below zero: s scales w towards or away from zero, the integral is the same.
    return over_chi(q, df, [=](double w) { return dunnett_normal_upper(w, lambda, false); });
  }
  return over_chi(q, df, [=](double w) { return dunnett_normal_upper(w, lambda, two_sided); });
}

double dunnett_quantile(double upper, std::span<const double> lambda, double df, bool two_sided) {
  return solve(upper, two_sided ? 0 : -4, [=](double q) { return dunnett_upper(q, lambda, df, two_sided); });
}

}  // namespace stab::statistics
