#include "analysis/statistics/looks/bets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/statistics/distributions/root.h"

namespace stab::statistics {
namespace {

// Half of a normal density at quarters of its standard deviation up to the third; beyond it next to nothing is left.
constexpr double kStep = 0.25;
// What the larger stakes have of the weight, each as much, and how many standard deviations they are for.
constexpr double kShareOfLarge = 0.1;
constexpr double kLargeDeltas[] = {1, 2};

double log_of(std::span<const double> values, double mean, double g, bool above) {
  Bets bets(mean, g);
  for (const double value : values) bets.add(value);
  return above ? bets.log_above() : bets.log_below();
}

}  // namespace

Bets::Bets(double mean, double g) : m_(mean) {
  double sum = 0;
  for (size_t k = 0; k < kNormal; ++k) {
    const double z = kStep * static_cast<double>(k + 1);
    stakes_[k].delta = z * std::sqrt(g);
    sum += stakes_[k].weight = std::exp(-z * z / 2);
  }
  for (size_t k = 0; k < kNormal; ++k) stakes_[k].weight *= (1 - kShareOfLarge) / sum;
  for (size_t k = 0; k < kLarge; ++k) {
    stakes_[kNormal + k].delta = kLargeDeltas[k];
    stakes_[kNormal + k].weight = kShareOfLarge / kLarge;
  }
}

void Bets::add(double value) {
  const double beside = mean_ - m_;
  const double deviation = count_ > 0 ? std::sqrt(squares_ / count_ + beside * beside) : 0;
  if (count_ >= kUnseen && deviation > 0) {
    const double furthest = kFurther * std::max(high_ - mean_, mean_ - low_);
    for (int side = 0; side < 2; ++side) {
      const double sign = side == 0 ? 1 : -1;
      // How far against the bet the next value may lie.
      const double against = furthest - sign * beside;
      for (Stake& stake : stakes_) {
        double lambda = stake.delta / deviation;
        if (against * lambda > 1) lambda = 1 / against;
        double& wealth = stake.wealth[static_cast<size_t>(side)];
        wealth *= std::max(0.0, 1 + sign * lambda * (value - m_));
        constexpr double kTooFar = 1e100;  // from where a double would run out after some more
        if (wealth > kTooFar || (wealth < 1 / kTooFar && wealth > 0)) {
          stake.log_scale[static_cast<size_t>(side)] += std::log(wealth);
          wealth = 1;
        }
      }
    }
  }
  count_ += 1;
  const double delta = value - mean_;
  mean_ += delta / count_;
  squares_ += delta * (value - mean_);
  low_ = count_ > 1 ? std::min(low_, value) : value;
  high_ = count_ > 1 ? std::max(high_, value) : value;
}

double Bets::log_wealth(int side) const {
  const auto at = static_cast<size_t>(side);
  const auto log_of_stake = [&](const Stake& stake) {
    return std::log(stake.weight) + std::log(stake.wealth[at]) + stake.log_scale[at];
  };
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const Stake& stake : stakes_) largest = std::max(largest, log_of_stake(stake));
  if (std::isinf(largest)) return largest;
  for (const Stake& stake : stakes_) sum += std::exp(log_of_stake(stake) - largest);
  return largest + std::log(sum);
}

BetEnds widened_by_bets(std::span<const double> values, double g, double alpha, const BetEnds& inner) {
  BetEnds out = inner;
  if (!std::isfinite(inner.low) || !std::isfinite(inner.high)) return out;
  // The search ends at a share of the number that it looks for. Far from 0 that is wider than the interval, so values are taken
  // from its middle there. Elsewhere they keep the digits that they have always had.
  constexpr double kFarFromZero = 1e4;
  const double middle = (inner.low + inner.high) / 2;
  if (std::fabs(middle) > kFarFromZero * (inner.high - inner.low)) {
    std::vector<double> shifted;
    for (const double value : values) shifted.push_back(value - middle);
    const BetEnds around = widened_by_bets(shifted, g, alpha, {inner.low - middle, inner.high - middle});
    return {around.low < inner.low - middle ? middle + around.low : inner.low,
            around.high > inner.high - middle ? middle + around.high : inner.high};
  }
  const double needed = -std::log(alpha / 2);
  constexpr double kMany = 1e3;  // logarithms are kept finite, for a search by secants
  const auto excess = [&](double m, bool above) { return std::clamp(log_of(values, m, g, above) - needed, -kMany, kMany); };
  const double centre = (inner.low + inner.high) / 2;
  for (const bool lower : {true, false}) {
    double& end = lower ? out.low : out.high;
    // Below the low end somebody bets that the mean is above it.
    double inside = end;
    if (excess(inside, lower) >= 0) continue;
    double outside = inside;
    constexpr double kFactor = 1.5;
    constexpr int kMost = 60;
    int tries = 0;
    do {
      inside = outside;
      outside = centre + kFactor * (outside - centre);
    } while (excess(outside, lower) < 0 && ++tries < kMost);
    if (tries == kMost || !std::isfinite(outside)) {
      end = lower ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
      continue;
    }
    RootStop stop;
    stop.width = 1e-10;
    stop.residual = 1e-11;
    end = lower ? falling_root([&](double m) { return excess(m, true); }, outside, inside, stop)
                : -falling_root([&](double m) { return excess(-m, false); }, -outside, -inside, stop);
  }
  return out;
}

}  // namespace stab::statistics
