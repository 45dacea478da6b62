// Caveats: what a reader must know before believing a report. A closed list; each has words and a hint.
#pragma once

#include <vector>

#include "analysis/report/report.h"
#include "analysis/report/samples.h"

namespace stab::report {

// The gravest first. pre: everything else in the report is filled in.
std::vector<Caveat> caveats_of(const Samples& samples, const Report& report);

// "steal": how a disturbance is called in reports. pre: one bit
std::string_view disturbance_word(uint32_t bit_index);

}  // namespace stab::report
