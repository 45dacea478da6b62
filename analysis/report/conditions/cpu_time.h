// CPU time that stands next to wall time: nobody asked for it, so it is exploratory and decides nothing.
#pragma once

#include <vector>

#include "analysis/report/report_data/report.h"

namespace stab::report {

// Its contrasts that have an answer, in the report's order; none where the plan asks for CPU time itself.
std::vector<const Contrast*> cpu_times_beside(const Report& report);

}  // namespace stab::report
