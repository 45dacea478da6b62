// Machines: an experiment whose blocks ran on several of them. Machine is a random block factor, as a workload's program is:
// there are two questions with two error terms, and both are answered.
#pragma once

#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// Each contrast of one workload, and of these programs, taken on each machine by itself and then put together. Empty where
// samples name fewer than two machines. pre: samples passed analyse()'s checks
std::vector<MachineContrast> machine_contrasts_of(const Samples& samples);

}  // namespace stab::report
