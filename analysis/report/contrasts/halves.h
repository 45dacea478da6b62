// Halves: a plan with plain cells and randomized ones asks whether a treatment's gain is the treatment's or the layout's luck.
// The contrast averages over both; here is what the treatment does in the cells of each layout alone. No plan declared these
// questions one by one, so they have intervals and no verdicts.
#pragma once

#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// Of the first response. Empty where no layout factor has plain and randomized cells, or no treatment has two levels, or there
// are more of them than anybody reads.
std::vector<HalfContrast> halves_of(const Samples& samples, const std::vector<WorkloadUnits>& units, double level);

}  // namespace stab::report
