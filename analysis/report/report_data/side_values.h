// What the two sides of a contrast measured, in the response's unit: what people know a program by, before any difference.
#pragma once

#include <optional>
#include <string>

#include "analysis/report/report_data/report.h"

namespace stab::report {

// Each absent: the side has no value, or the contrast is over several workloads, of which no common value exists.
struct SideValues {
  std::optional<double> before, after;  // of the baseline, and of the level
};

// Geometric means where the contrast is a ratio and all values are above 0, else means. A level of several cells, as an
// ablation's has, counts each of them once, as the contrast does.
SideValues side_values(const Report& report, const Contrast& contrast);
// Those that the contrast compares. Absent of one of the blocks alone: the cells are of all trials.
SideValues compared_values(const Report& report, const Contrast& contrast);

// "440.5 ms -> 449.4 ms"; of compared_values(); empty: one is absent.
std::string side_values_text(const Report& report, const Contrast& contrast);

}  // namespace stab::report
