#include "analysis/statistics/distributions/random_values.h"

#include <cmath>

namespace stab::statistics {

double normal_value(Rng& rng) {
  while (true) {
    const double x = 2 * rng.uniform() - 1, y = 2 * rng.uniform() - 1, square = x * x + y * y;
    if (square < 1 && square > 0) return x * std::sqrt(-2 * std::log(square) / square);
  }
}

double chi_squared_value(Rng& rng, double df) {
  // Theirs is for shapes of 1 and more; a smaller one is a larger one's value times a power of a uniform one (their section 6).
  const double shape = df / 2;
  if (shape < 1) return chi_squared_value(rng, df + 2) * std::pow(1 - rng.uniform(), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal_value(rng), root = 1 + c * x;
    if (!(root > 0)) continue;
    const double v = root * root * root, u = 1 - rng.uniform();  // above 0
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return 2 * d * v;
  }
}

}  // namespace stab::statistics
