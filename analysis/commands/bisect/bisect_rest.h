// What the commits that a search has named leave of the difference between its ends: whether others have a part in it.
#pragma once

#include <optional>

#include "analysis/commands/bisect/bisect.h"

namespace stab::commands {

// A step's cost on a scale on which those of one commit after the other add up: shares as logarithms. Positive: what was asked
// is so.
struct StepCost {
  double estimate = 0, low = 0, high = 0;
};
StepCost cost_of(const BisectStep& step);

// Positive: slower. A difference of logarithms, or, where costs are no shares, in the response's unit.
struct BisectRest {
  double estimate = 0, low = 0, high = 0;
  double whole = 0;  // what lies between the ends
  bool is_share = true;

  // Whether commits that are not named have a part in it.
  bool is_shown() const { return low > 0 || high < 0; }
  bool is_faster() const { return estimate < 0; }
};

// The limits are those of a difference of independent estimates, made of the limits of each (Zou and Donner 2008, "Construction
// of confidence limits about effect measures"; of sums, Zou, Huang and Zhang 2009). Nothing: no commit is named, or the ends have
// no numbers.
std::optional<BisectRest> rest_of(const Bisection& search);

// The comparison of a part's first and last commit, and the one that has named its commit; none: null.
const BisectStep* ends_of(const Bisection& search, size_t part);
const BisectStep* naming_of(const Bisection& search, size_t part);

}  // namespace stab::commands
