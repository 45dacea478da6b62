// The ratio of two means, whose denominator is an estimate, too.
#pragma once

#include <span>

#include "analysis/statistics/two_samples/descriptive.h"
#include "base/result.h"

namespace stab::statistics {

struct RatioOfMeans {
  double estimate = 1;     // first over second
  double conf_low = 0;
  double conf_high = 0;
  double df = 0;           // of the interval
  double statistic = 0;    // of first - rho second against 0, and its two-sided p
  double p_value = 1;
  double test_df = 0;
};

// Fieller (1954): the ratios rho for which first - rho second isn't told from 0. Unequal variances, Satterthwaite's degrees
// of freedom: the test's at rho, the interval's at the estimate (Tamhane & Logan 2004). Refuses where the second mean
// itself isn't told from 0 at this level: then any ratio fits.
Result<RatioOfMeans> fieller(const Moments& first, const Moments& second, double rho, double conf);

// The same for pairs, whose values go together. pre: in pair order
Result<RatioOfMeans> fieller_paired(std::span<const double> first, std::span<const double> second, double rho, double conf);

}  // namespace stab::statistics
