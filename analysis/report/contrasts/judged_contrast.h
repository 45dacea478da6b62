// A contrast as it is told: in people's units, judged with its family, and with what would settle it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/report/contrasts/contrast_estimate.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// A contrast in both shapes, with the response it belongs to.
struct FamilyMember {
  size_t response = 0;
  Contrast contrast;
  ContrastEstimate estimate;
};

// Without a verdict, and with p-values that know no family. Fills in the estimate's ends.
Contrast describe_contrast(const Samples& samples, const LookLevels& levels, size_t response, size_t factor, uint32_t level,
                           ContrastEstimate& estimate);

// Adjusts within a family and judges each member. pre: not empty
void judge_family(const Samples& samples, const LookLevels& levels, const std::vector<FamilyMember*>& family,
                  bool settles);

// The rule of docs/explanation/verdicts.md: on the response's scale (log ratios or differences), margin > 0 on that scale.
// low, high: the (1 - alpha) interval. Both conclusions must survive Holm.
Verdict verdict_of(double low, double high, double margin, bool equivalent_after_holm, bool significant_after_holm);

}  // namespace stab::report
