// Step-down and step-up adjustments of a family of p-values. What the family is, the plan declares: all
// contrasts x programs of a report.
#include "analysis/statistics/families/multiplicity.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace stab::statistics {
namespace {

std::vector<size_t> ascending(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<double> adjusted(p_values.size());
  double running = 0;
  size_t left = p_values.size();
  for (size_t index : ascending(p_values)) {
    running = std::max(running, std::min(1.0, static_cast<double>(left--) * p_values[index]));
    adjusted[index] = running;
  }
  return adjusted;
}

namespace {

// Step-up: from the largest p down, each at most what its rank's factor makes of it and of those above.
template <typename Factor>
std::vector<double> step_up(std::span<const double> p_values, const Factor& factor) {
  const std::vector<size_t> order = ascending(p_values);
  std::vector<double> adjusted(p_values.size());
  double running = 1;
  for (size_t rank = order.size(); rank > 0; --rank) {
    running = std::min(running, factor(static_cast<double>(rank)) * p_values[order[rank - 1]]);
    adjusted[order[rank - 1]] = running;
  }
  return adjusted;
}

}  // namespace

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  const auto m = static_cast<double>(p_values.size());
  return step_up(p_values, [m](double rank) { return m / rank; });
}

std::vector<double> hochberg(std::span<const double> p_values) {
  const auto m = static_cast<double>(p_values.size());
  return step_up(p_values, [m](double rank) { return m - rank + 1; });
}

std::vector<double> benjamini_yekutieli(std::span<const double> p_values) {
  const auto m = static_cast<double>(p_values.size());
  double harmonic = 0;
  for (double i = 1; i <= m; ++i) harmonic += 1 / i;
  return step_up(p_values, [=](double rank) { return harmonic * m / rank; });
}

std::vector<double> bonferroni(std::span<const double> p_values) {
  std::vector<double> adjusted;
  for (double p : p_values) adjusted.push_back(std::min(1.0, static_cast<double>(p_values.size()) * p));
  return adjusted;
}

}  // namespace stab::statistics
