// Factorial analysis of variance that allows cells to differ in spread: Wald F tests with the
// heteroscedasticity-consistent covariance HC3.
#pragma once

#include <span>
#include <vector>

#include "analysis/statistics/models/anova.h"

namespace stab::statistics {

// Type II or III hypotheses as car::Anova(white.adjust = "hc3"); residual df for the denominator. Rows carry df,
// f and p_value; there are no sums of squares. Refuses cells with one value in a saturated model (leverage 1).
Result<std::vector<AnovaRow>> hc3_anova(const CellTable& table, std::span<const TermMask> terms, SumsType type);

}  // namespace stab::statistics
