// Tests of equal variance: diagnostics, never a gate that picks the method.
#pragma once

#include <span>
#include <vector>

#include "analysis/statistics/models/anova.h"
#include "base/result.h"

namespace stab::statistics {

// Analysis of variance of the distances from each group's centre. Levene (1960): the mean; Brown & Forsythe
// (1974): the median, robust to shape. car::leveneTest gives the same.
enum class Centre { kMean, kMedian };
Result<OneWay> levene(const std::vector<std::vector<double>>& groups, Centre centre);

// The same where values come in blocks that are high or low as a whole: blocks[b] holds one value of each group. Distances
// are from the group's centre and from so much of the block's deviation as is the block's own, and are compared within
// blocks; for two groups their values' sum carries the answer, as in Pitman's and Morgan's test. 3 blocks at least.
Result<OneWay> levene_in_blocks(const std::vector<std::vector<double>>& blocks);

// One-way analysis of variance with pooled variance.
Result<OneWay> one_way(const std::vector<std::vector<double>>& groups);

}  // namespace stab::statistics
