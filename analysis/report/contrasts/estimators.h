// Estimators: the same differences as the contrasts', estimated otherwise than by a mean, where the plan declared that before
// the data. They stand beside the mean, which gives the experiment's verdicts; they are a family of their own (Holm).
//
//   Hodges-Lehmann   the middle of all averages of two of the blocks' contrasts, with the interval that Wilcoxon's signed ranks
//                    give; outside blocks the middle of all differences of two cells (Mann and Whitney's). Distribution-free,
//                    where the blocks' contrasts are distributed symmetrically, and the two cells alike but for a shift. A
//                    few long trials hardly move it.
//   quantile         the difference of quantiles over draws, blocks left out as a whole (quantile_contrast.h).
//   mixed            a model of all trials with programs, machines, layouts and blocks as samples (mixed_contrasts.h).
//
// Values are the replicates of the contrasts: runs of one layout in one block are averaged before. Programs like these are one
// estimate for each program, and signed ranks or t over them. There is no estimate for "these programs": a mean of
// Hodges-Lehmann estimates has no distribution-free interval.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// "hodges-lehmann", "median", "quantile 0.9", "mixed"
std::string name_of(const Estimator& estimator);

// By the declared responses that aren't benchmarks, estimator by estimator. pre: units as contrasts_of() takes them
std::vector<EstimatorContrast> estimator_contrasts_of(const Samples& samples, const UnitsByResponse& units,
                                                      const LookLevels& levels);

// One for each program and contrast of the declared responses.
std::vector<ShiftFunction> shift_functions_of(const Samples& samples, const UnitsByResponse& units, const LookLevels& levels);

}  // namespace stab::report
