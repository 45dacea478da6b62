// Group sequential boundaries for a declared curve of one's own, beside the named ones of alpha_spending.h.
#pragma once

#include <span>
#include <vector>

#include "analysis/statistics/looks/alpha_spending.h"
#include "base/result.h"

namespace stab::statistics {

// `spent` is the alpha up to each look, ascending, less than 0.5 (Lan and DeMets 1983). Of the fractions of the information only
// their ratios count: the last one needn't be 1. Two-sided unless `one_sided`.
// kBadInput: not as many, or a curve that falls
Result<std::vector<Look>> looks_that_spend(std::span<const double> spent, std::span<const double> fractions, bool one_sided);

}  // namespace stab::statistics
