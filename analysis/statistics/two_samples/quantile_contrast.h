// Differences of quantiles, of samples whose values may belong together: the shift function (Doksum 1974), at one quantile or
// at several with a band that holds for all of them at once.
//
// A quantile is estimated as Harrell and Davis do ("A new distribution-free quantile estimator", Biometrika 69(3), 1982), by a
// mean of all order statistics with the weights of a beta distribution: smooth in the data, so that leaving one draw out
// tells its error (the jackknife, as they propose), where that of a single order statistic's doesn't. Where the samples
// were drawn together (blocks), a draw is left out of all of them, so that what they have in common cancels. The interval is
// Student's with draws - 1 degrees of freedom, or Satterthwaite's where samples are independent. tests/bench/estimator_table says
// how often it errs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

// pre: not empty, 0 < p < 1
double harrell_davis(std::span<const double> values, double p);

// invariant: together: all samples have as many values, the i-th of each from the same draw
struct WeightedSample {
  std::vector<double> values;
  double coefficient = 0;
};

// The sum of coefficient * quantile over the samples, for each probability.
struct QuantileContrasts {
  std::vector<double> estimates, standard_errors, df;
  std::vector<std::vector<double>> correlations;  // of the estimates
  uint64_t n = 0;                                 // draws of the smallest sample
};

// Fewest draws for the quantile p: with fewer its interval leaves out the truth more often than promised, since too few values
// lie beyond the quantile.
uint64_t least_draws(double p);

// Refuses fewer draws than least_draws() for any of the probabilities, and samples without any spread there.
Result<QuantileContrasts> quantile_contrasts(std::span<const WeightedSample> samples, bool together,
                                             std::span<const double> probabilities);

// c such that all |t| of so correlated estimates with a common spread stay below c with probability 1 - alpha: the half width
// of a simultaneous band, in standard errors. By 40,000 draws of a multivariate t with a fixed seed; its error is half a percent.
// pre: correlations square and not empty, df > 0
double simultaneous_critical_t(const std::vector<std::vector<double>>& correlations, double df, double alpha);

}  // namespace stab::statistics
