// Tests of equal variance: diagnostics, never a gate that picks the method.
#pragma once

#include <span>
#include <vector>

#include "analysis/anova.h"
#include "base/result.h"

namespace stab::analysis {

// Analysis of variance of the distances from each group's centre. Levene (1960): the mean; Brown & Forsythe
// (1974): the median, robust to shape. car::leveneTest gives the same.
enum class Centre { kMean, kMedian };
Result<OneWay> levene(const std::vector<std::vector<double>>& groups, Centre centre);

// One-way analysis of variance with pooled variance.
Result<OneWay> one_way(const std::vector<std::vector<double>>& groups);

}  // namespace stab::analysis
