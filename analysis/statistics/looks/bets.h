// Bets on the mean of values that need not be normal: a second confidence sequence, beside the normal mixture of
// confidence_sequence.h.
//
// Whoever holds that the mean is m loses on average to nobody who stakes a share of his wealth on the next value before he sees
// it: from 1 on, the wealth prod (1 + lambda_i (x_i - m)) is a martingale if the values have mean m given those before, whatever
// else their distribution is, as long as no factor is below 0 (Waudby-Smith & Ramdas, "Estimating means of bounded random
// variables by betting", J. R. Stat. Soc. B 86(1), 2024, section 4). It ever reaches 1/alpha with probability alpha at most
// (Ville 1939). Means at which it has are left out of the interval.
//
// Their values lie between known bounds. Times don't, so a bound is assumed: no value lies further from the mean of those before
// than kFurther times the furthest of those before did. The stake is so small that a value at that bound takes all of the wealth
// and no more. That is what a t statistic takes for granted without saying so: of a path that is slow in one run of thirty, and
// of one side only, the first twenty values show nothing, and their narrow spread passes for all there is.
//
// Several stakes at once, whose wealths are averaged: delta standard deviations around m of the values before, with delta from
// the positive half of the normal mixture's N(0, g) and two larger ones, which settle large differences early.
#pragma once

#include <array>
#include <span>

namespace stab::statistics {

// The wealth of who bets that the mean is above m, and of who bets that it is below.
class Bets {
 public:
  static constexpr double kFurther = 3;
  static constexpr int kUnseen = 3;  // values before the first bet: a bound needs some

  // g as mixture_narrowest_at() gives it. pre: g > 0
  Bets(double mean, double g);

  void add(double value);
  // Logarithms; -infinity where all is lost.
  double log_above() const { return log_wealth(0); }
  double log_below() const { return log_wealth(1); }

 private:
  static constexpr size_t kNormal = 12, kLarge = 2, kStakes = kNormal + kLarge;
  struct Stake {
    double delta = 0, weight = 0;
    std::array<double, 2> wealth{1, 1};  // times exp(log_scale)
    std::array<double, 2> log_scale{0, 0};
  };

  double log_wealth(int side) const;

  double m_;
  std::array<Stake, kStakes> stakes_;
  double count_ = 0, mean_ = 0, squares_ = 0;  // of the values so far; squares around their mean
  double low_ = 0, high_ = 0;
};

struct BetEnds {
  double low = 0, high = 0;  // infinite where no mean is excluded on that side
};
// The means that neither side's bets exclude at alpha (alpha / 2 a side), or `inner` where that is wider: the union of two
// intervals, either of which would do. pre: inner lies around the values' mean, and is no point
BetEnds widened_by_bets(std::span<const double> values, double g, double alpha, const BetEnds& inner);

}  // namespace stab::statistics
