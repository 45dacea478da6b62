// Where a falling function crosses zero: secant steps that keep the bracket, in the Illinois form (Dowell & Jarratt,
// BIT 11, 1971): an end that stays twice counts half, so that both ends close in. Fast where f is near a straight line
// or a parabola, as the logarithm of a tail area is; bisects where a step leaves the bracket.
#pragma once

#include <algorithm>
#include <cmath>

namespace stab::statistics {

struct RootStop {
  double width = 1e-12;   // of the bracket, relative to the end that is farther from zero
  double residual = 0;    // of |f|
};

// pre: low < high, f(low) >= 0 >= f(high), both finite
template <typename Function>
double falling_root(const Function& f, double low, double high, const RootStop& stop) {
  constexpr int kMostSteps = 200;
  double f_low = f(low), f_high = f(high);
  int kept = 0;  // the end that stayed in the step before: -1 low, 1 high
  for (int step = 0; step < kMostSteps && high - low > stop.width * std::max(std::fabs(low), std::fabs(high)); ++step) {
    double middle = (low * f_high - high * f_low) / (f_high - f_low);
    if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
    const double value = f(middle);
    if (value <= stop.residual && value >= -stop.residual) return middle;
    if (value > 0) {
      low = middle;
      f_low = value;
      if (kept == 1) f_high /= 2;
      kept = 1;
    } else {
      high = middle;
      f_high = value;
      if (kept == -1) f_low /= 2;
      kept = -1;
    }
  }
  return 0.5 * (low + high);
}

}  // namespace stab::statistics
