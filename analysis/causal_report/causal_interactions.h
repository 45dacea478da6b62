// Whether what a line is worth depends on something else: on a treatment or a layout factor, which is on the cell, or on the
// layout that its windows ran in.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/causal_report/causal.h"

namespace stab::causal_report {

// A share that was estimated, with what each cluster contributes to its error (their squares add up to its variance).
struct Tangent {
  double value = 0, df = 0;
  std::vector<double> scores;
};

// One arm in one cell, against the baselines and against the null windows. Absent: it has no number against these.
struct ArmInCell {
  Tangent effect;
  std::optional<Tangent> beyond_null;
};

// pre: the two are of different cells, whose trials have nothing in common
void compare_cells(const ArmInCell& first, const ArmInCell& here, double alpha, CausalInteraction& out);

// Absent: fewer than three layouts have windows of the arm and baseline windows, or nothing says how much layouts differ by
// chance. pre: windows, indices into CausalData's, are of the curve's cell and count
std::optional<LayoutInteraction> layout_interaction(const CausalData& data, std::span<const size_t> windows,
                                                    const CausalCurve& curve, double speedup);

}  // namespace stab::causal_report
