// Tests of normality: diagnostics on residuals, never a gate that picks the method.
#pragma once

#include <span>

#include "base/result.h"

namespace stab::statistics {

struct NormalityTest {
  double statistic = 0;  // W, or A squared
  double adjusted = 0;   // Anderson-Darling: A squared corrected for n; Shapiro-Wilk: W again
  double p_value = 1;
};

// Royston, "Remark AS R94", Applied Statistics 44 (1995). 3 <= n <= 5000, not constant.
Result<NormalityTest> shapiro_wilk(std::span<const double> values);

// Anderson & Darling with mean and variance estimated; p by Stephens' formulas (D'Agostino & Stephens 1986,
// table 4.9), as R's nortest. n >= 8, not constant.
Result<NormalityTest> anderson_darling(std::span<const double> values);

}  // namespace stab::statistics
