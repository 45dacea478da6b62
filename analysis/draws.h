// Draws: which values of an experiment in blocks are independent, when layouts come from links that recur.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analysis/samples.h"
#include "analysis/t_tests.h"
#include "analysis/units.h"

namespace stab::analysis {

// A linear combination of cells of one workload; coefficients sum to zero.
using CellCoefficients = std::map<const CellUnits*, double>;

// The combination within each block, averaged over blocks that share a link: one value for each independent draw.
// Absent where blocks don't hold: too few of them are complete, cells ran twice in a block, one seed ran in several
// blocks, or a block mixes links that come back in others.
std::optional<std::vector<double>> block_contrasts(const Samples& samples, const CellCoefficients& coefficients);

// The combination where blocks and links are crossed. Absent where none of its cells has several links, or its cells
// differ in their links. pre: coefficients are of cells of this workload
struct LinkContrast {
  TTest test;            // two-sided, 1 - alpha
  bool blocked = false;  // block effects were taken off
};
std::optional<LinkContrast> link_contrast(const Samples& samples, const WorkloadUnits& workload,
                                          const CellCoefficients& coefficients);

// One row for each independent draw: the means of all cells over the blocks that share a link, or over one block.
// Empty where a block lacks a cell, holds one twice or mixes links that come back, where a seed ran in several blocks, or with fewer
// than 3 draws. `by_link` tells which it was.
std::vector<std::vector<double>> complete_draws(const Samples& samples, const std::vector<CellUnits>& cells, bool* by_link);

}  // namespace stab::analysis
