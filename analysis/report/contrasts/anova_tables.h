// The tables of analysis of variance that a report holds.
#pragma once

#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// The factors that vary in this experiment; the others have nothing to test.
std::vector<size_t> varying_factors(const Samples& samples);

// All factors as fixed effects, blocks as an additive term. `varying`: of varying_factors, not empty
AnovaTable within_one_workload(const Samples& samples, size_t response, uint32_t workload, const WorkloadUnits& units,
                               const std::vector<size_t>& varying);

// time ~ factors + Error(program / factors), on the means of each program's cells: those of its workloads', averaged.
AnovaTable over_programs(const Samples& samples, size_t response, const std::vector<WorkloadUnits>& workloads,
                         const std::vector<size_t>& varying);

}  // namespace stab::report
