// All on logarithms: with few values and a small alpha r^(n/2) is beyond a double.
#include "analysis/statistics/looks/confidence_sequence.h"

#include <cmath>
#include <limits>

namespace stab::statistics {

double mixture_log_ratio(double t, double n, double g) {
  const double r = 1 + n * g, x = t * t / (n - 1);
  if (std::isinf(x)) return (n - 1) / 2 * std::log(r);
  return -std::log(r) / 2 + n / 2 * (std::log1p(x) - std::log1p(x / r));
}

// (1 + x) / (1 + x / r) = a with a = (r / alpha^2)^(1/n); the left side stays below r, however large x is.
double sequence_critical_t(double n, double g, double alpha) {
  const double r = 1 + n * g;
  const double log_a = (std::log(r) - 2 * std::log(alpha)) / n;
  const double below = -std::expm1(log_a - std::log(r));
  if (!(below > 0)) return std::numeric_limits<double>::infinity();
  return std::sqrt((n - 1) * std::expm1(log_a) / below);
}

// The critical t falls and then rises with log g, from infinity at the g of which no t is enough: golden section.
double mixture_narrowest_at(double n, double alpha) {
  const double least = std::log(std::expm1(-2 * std::log(alpha) / (n - 1)) / n);
  const double golden = (std::sqrt(5.0) - 1) / 2;
  const auto width = [&](double log_g) { return sequence_critical_t(n, std::exp(log_g), alpha); };
  double low = least, high = least + 40;
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double at_left = width(left), at_right = width(right);
  for (int i = 0; i < 90; ++i) {
    if (at_left <= at_right) {
      high = right;
      right = left, at_right = at_left;
      left = high - golden * (high - low), at_left = width(left);
    } else {
      low = left;
      left = right, at_left = at_right;
      right = low + golden * (high - low), at_right = width(right);
    }
  }
  return std::exp((low + high) / 2);
}

}  // namespace stab::statistics
