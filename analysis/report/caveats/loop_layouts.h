// What a program that stays in one loop sees of layouts of its code.
#pragma once

#include <optional>

#include "analysis/report/report_data/report.h"

namespace stab::report {

// The fewest layouts that trials of a cell saw of the code (median), if that is few because the program stays in a loop, where
// functions are not entered anew. Absent: they saw enough, or few for another reason.
std::optional<double> layouts_of_a_loop(const Report& report);

}  // namespace stab::report
