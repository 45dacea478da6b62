#include "analysis/statistics/looks/online_discoveries.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

namespace stab::statistics {
namespace {

// The prior's values of sd, as shares of the margin: 0, and from a fiftieth to twice of it in steps of 1.25.
constexpr size_t kSds = 22;
constexpr double kLeastSd = 0.02, kSdStep = 1.25;

// The prior's values of the difference: from a hundredth of the margin to a hundred times of it, in steps of 2 %. A step is what
// a gate's error is for a difference of one margin, or less; beyond that some evidence is given away, and none is made up.
constexpr double kLeastDifference = 0.01, kDifferenceStep = 1.02;
constexpr size_t kDifferences = 466;

double log_sum(std::span<const double> logs) {
  const double top = *std::max_element(logs.begin(), logs.end());
  if (std::isinf(top)) return top;
  double sum = 0;
  for (const double one : logs) sum += std::exp(one - top);
  return top + std::log(sum);
}

double log_likelihood(std::span<const SessionDifference> sessions, double truth, double sd) {
  double sum = 0;
  for (const SessionDifference& one : sessions) sum += SessionDensity(one, sd).log_at(truth);
  return sum;
}

// The largest of a smooth function: the best of a grid, then golden sections beside it.
double largest(const std::function<double(double)>& f, std::span<const double> grid) {
  size_t best = 0;
  double top = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < grid.size(); ++i)
    if (const double value = f(grid[i]); value > top) {
      top = value;
      best = i;
    }
  double low = grid[best == 0 ? 0 : best - 1], high = grid[std::min(best + 1, grid.size() - 1)];
  const double golden = (std::sqrt(5.0) - 1) / 2;
  constexpr int kSteps = 30;
  for (int i = 0; i < kSteps; ++i) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    const double at_left = f(left), at_right = f(right);
    top = std::max({top, at_left, at_right});
    (at_left > at_right ? high : low) = at_left > at_right ? right : left;
  }
  return top;
}

// The largest likelihood of gates where the difference is 0 or below. Heavy tails have several maxima where gates contradict each
// other: each gate is a start, from where the weighted mean of its own weights rises (Lange, Little & Taylor, Journal of the
// American Statistical Association 84, 1989).
double log_best_at_most_0(std::span<const SessionDifference> gates, double sd) {
  std::vector<SessionDensity> densities;
  for (const SessionDifference& one : gates) densities.emplace_back(one, sd);
  const auto log_at = [&](double truth) {
    double sum = 0;
    for (const SessionDensity& density : densities) sum += density.log_at(truth);
    return sum;
  };
  double top = log_at(0);
  constexpr int kMostSteps = 200;
  constexpr double kSettled = 1e-8;
  for (const SessionDifference& start : gates) {
    double truth = std::min(0.0, start.difference);
    for (int step = 0; step < kMostSteps; ++step) {
      double mean = 0, weights = 0;
      for (size_t i = 0; i < gates.size(); ++i) {
        const double weight = densities[i].weight_at(truth);
        mean += weight * gates[i].difference;
        weights += weight;
      }
      const double next = std::min(0.0, mean / weights);
      const bool settled = std::fabs(next - truth) * std::sqrt(weights) <= kSettled;
      truth = next;
      if (settled) break;
    }
    top = std::max(top, log_at(truth));
  }
  return top;
}

// The largest likelihood of both where the difference is 0 or below.
double log_best_of_null(std::span<const SessionDifference> gates, std::span<const SessionDifference> controls) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& list : {gates, controls})
    for (const SessionDifference& one : list) {
      least = std::min(least, one.standard_error);
      most = std::max({most, one.standard_error, std::fabs(one.difference)});
    }
  // Below a hundredth of the smallest error no sd is told from 0; above twice the largest number the likelihood only falls.
  std::vector<double> grid = {0};
  constexpr double kStep = 1.1;
  for (double sd = least / 100; sd < 2 * kStep * most; sd *= kStep) grid.push_back(sd);
  return largest([&](double sd) { return log_best_at_most_0(gates, sd) + log_likelihood(controls, 0, sd); }, grid);
}

}  // namespace

double log_e_value(std::span<const SessionDifference> gates, std::span<const SessionDifference> controls, double margin) {
  if (gates.empty()) return 0;
  std::array<double, kDifferences> log_weight{}, difference{};
  double size = kLeastDifference, below = 0;
  for (size_t i = 0; i < kDifferences; ++i, size *= kDifferenceStep) {
    // What the half-Cauchy has up to here; the last value gets the rest.
    const double up_to = i + 1 == kDifferences ? 1 : 2 / std::numbers::pi * std::atan(size * std::sqrt(kDifferenceStep));
    difference[i] = margin * size;
    log_weight[i] = std::log(up_to - below);
    below = up_to;
  }
  std::vector<double> averaged;
  std::array<double, kDifferences> terms{};
  double sd = 0;
  for (size_t k = 0; k < kSds; ++k) {
    terms = log_weight;
    for (const SessionDifference& one : gates) {
      const SessionDensity density(one, sd);
      for (size_t i = 0; i < kDifferences; ++i) terms[i] += density.log_at(difference[i]);
    }
    averaged.push_back(log_sum(terms) + log_likelihood(controls, 0, sd) - std::log(static_cast<double>(kSds)));
    sd = k == 0 ? kLeastSd * margin : sd * kSdStep;
  }
  return log_sum(averaged) - log_best_of_null(gates, controls);
}

double log_mean_e_value(std::span<const double> logs) { return log_sum(logs) - std::log(static_cast<double>(logs.size())); }

double share_of(const Stream& stream, uint64_t number) {
  const auto n = static_cast<double>(stream.tests), t = static_cast<double>(number);
  return t <= n ? 1 / (2 * n) : n / (2 * t * (t - 1));
}

double log_e_needed(const Stream& stream, uint64_t number, uint64_t rejected_before) {
  return -std::log(stream.rate * share_of(stream, number) * (static_cast<double>(rejected_before) + 1));
}

}  // namespace stab::statistics
