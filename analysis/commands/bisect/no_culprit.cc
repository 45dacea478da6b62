#include "analysis/commands/bisect/no_culprit.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::commands {
namespace {

// Before the comparison, in eighths.
constexpr double kNoneDid = 2, kSlowdown = 3, kOtherChange = 1, kSeveralDid = 2;

}  // namespace

double probability_of_no_culprit(const CostEstimate& ends, double margin, size_t commits) {
  // The costs that are possible, as in a search, in distances: below the good commit and above it.
  constexpr double kBelow = 2, kAbove = 3;
  constexpr double kBestError = 1.0 / 40;  // what is known better counts as known as well as that
  const double distance = std::max(std::fabs(ends.change), margin), error = std::max(ends.error, kBestError * distance);
  const double by_chance = kSaysNothing / ((kBelow + kAbove) * distance);
  // How likely what was seen is, if the ends lie so far apart, or anywhere between two costs.
  const auto likelihood = [&](double cost) {
    const double away = (ends.change - cost) / error;
    return (1 - kSaysNothing) * std::exp(-away * away / 2) / (error * std::sqrt(2 * M_PI)) + by_chance;
  };
  const auto likelihood_between = [&](double low, double high) {
    const auto below = [&](double cost) { return statistics::normal_cdf((cost - ends.change) / error); };
    return (1 - kSaysNothing) * (below(high) - below(low)) / (high - low) + by_chance;
  };
  const double none = kNoneDid * likelihood(0);
  const double other = kOtherChange * likelihood_between(-kBelow * distance, margin);
  const double slowdown = kSlowdown * likelihood(std::max(margin, ends.change));
  const double several = commits > 1 ? kSeveralDid * likelihood_between(-kBelow * distance, kAbove * distance) : 0;
  return (none + other) / (none + other + slowdown + several);
}

}  // namespace stab::commands
