// Counts of successes: the exact test and interval of a proportion, as R's binom.test().
#pragma once

#include <cstdint>

#include "analysis/statistics/two_samples/t_tests.h"
#include "base/result.h"

namespace stab::statistics {

struct ProportionTest {
  double estimate = 0;
  double p_value = 1;
  double conf_low = 0;   // 0 and 1 on the open side of a one-sided interval
  double conf_high = 1;
};

// `successes` of `trials` against the proportion `p`. Refuses trials == 0, successes > trials, p outside [0, 1].
Result<ProportionTest> exact_binomial(uint64_t successes, uint64_t trials, double p, Alternative alternative,
                                      double conf);

}  // namespace stab::statistics
