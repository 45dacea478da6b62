// Has a sample one hump? The dip (Hartigan & Hartigan, "The dip test of unimodality", Ann. Statist. 13(1), 1985): how far the
// empirical distribution is from the nearest one that has a single mode. It needs no bandwidth, and looks the same whatever the
// unit is.
//
// p is the share of uniform samples of the same size whose dip is as large: of all distributions with one mode the uniform one
// has the largest dips in large samples (their theorem 5), so that shapes with tails, skewed or not, alarm more rarely than p
// says. The quantiles are in dip_quantiles.h; p is never below 1e-5.
//
// Values that a clock or a counter has rounded come in heaps, and each would be a mode: they are spread over the steps that
// they were rounded to before anything is looked at.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

struct DipTest {
  double dip = 0;      // between 1 / (2 n) and 1 / 4
  double p_value = 1;
  // Where it is: sorted values from this one on are on the other side of the emptiest place. 0: nowhere, as the dip is the
  // smallest that there can be.
  size_t upper_from = 0;
};

// n >= 4, not constant.
Result<DipTest> dip_test(std::span<const double> values);

// The groups that a sample falls into, one behind the other: the test is asked again of each part, and goes on while p is at
// most `level`. One group: all values.
// pre: sorted; as dip_test's else
std::vector<std::span<const double>> groups_of_values(std::span<const double> sorted, double level);

}  // namespace stab::statistics
