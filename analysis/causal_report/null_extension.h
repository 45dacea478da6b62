// NullExtension: how many control trials, of null and baseline windows alone, bring a null control inside the margin that the
// plan's own trials leave open.
//
// Two looks at the null control: after the plan's trials, and once more after the control trials. How many these are follows
// from the first look's error and not from its estimate (Stein 1945), so the second look is as good as one at a fixed number. A
// control that is off by the margin passes one of the two with a chance of alpha at most, half of it at each.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/causal_report/causal.h"

namespace stab::causal_report {

// The half width of the control's interval that is aimed at, as a share of the margin: where nothing is off it then lies inside
// in 19 of 20 experiments.
inline constexpr double kNullMarginShare = 0.5;

struct NullExtension {
  uint64_t trials = 0;  // of each cell; 0: none
  std::string why;      // for people; empty: every null control was settled
};
// `most`: trials of a cell, at most. None where even these would not do.
NullExtension null_extension(const CausalReport& report, uint64_t most, double margin_share = kNullMarginShare);

}  // namespace stab::causal_report
