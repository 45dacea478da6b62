// Samples with one hump of many shapes, and with two: for how often a test of modes speaks, of nothing and of what it is for.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {

struct MadeShape {
  const char* name;
  std::function<double(Rng&)> draw;
};

inline double standard_exponential(Rng& rng) { return -std::log((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52); }

inline const std::vector<MadeShape>& shapes_with_one_hump() {
  static const std::vector<MadeShape> kShapes{
      {"normal", [](Rng& rng) { return standard_normal(rng); }},
      {"log-normal, sigma 0.5", [](Rng& rng) { return std::exp(0.5 * standard_normal(rng)); }},
      {"exponential", [](Rng& rng) { return standard_exponential(rng); }},
      {"t, 3 df",
       [](Rng& rng) {
         const double a = standard_normal(rng), b = standard_normal(rng), c = standard_normal(rng);
         return standard_normal(rng) / std::sqrt((a * a + b * b + c * c) / 3);
       }},
      {"uniform", [](Rng& rng) { return rng.uniform(); }},
      {"normal, one in ten up to 8 sd later",
       [](Rng& rng) { return standard_normal(rng) + (rng.below(10) == 0 ? 8 * rng.uniform() : 0); }},
      {"normal, rounded to 1/2 sd", [](Rng& rng) { return std::round(2 * standard_normal(rng)) / 2; }},
      {"normal, rounded to 2 sd", [](Rng& rng) { return 2 * std::round(standard_normal(rng) / 2); }},
      {"logarithm of a count around 50", [](Rng& rng) { return std::log(std::round(50 + 7 * standard_normal(rng))); }}};
  return kShapes;
}

// Two normal groups so many sds apart; one value in `one_in` belongs to the upper one.
inline std::function<double(Rng&)> two_humps(double apart, uint64_t one_in) {
  return [=](Rng& rng) { return standard_normal(rng) + (rng.below(one_in) == 0 ? apart : 0); };
}

inline std::vector<double> sample_of(Rng& rng, size_t n, const std::function<double(Rng&)>& draw) {
  std::vector<double> out(n);
  for (double& value : out) value = draw(rng);
  return out;
}

}  // namespace stab::analysis
