// Clusters: values that come from one thing (a link, a machine, a subject) and aren't independent of each other, in any
// arrangement over the cells.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/report/experiment/draws.h"
#include "base/result.h"

namespace stab::report {

struct ClusterContrast {
  statistics::TTest test;     // two-sided, 1 - alpha
  uint64_t clusters = 0;      // of the cell that has the fewest
  bool crossed = false;       // each cluster has all of these cells
  bool nested = false;        // each cluster has one of them
  std::vector<double> draws;  // crossed: each cluster's own value of the combination
  double rounding = 0;        // of these: what is left at most of cells that cancel
  Shared shared;              // what each adds to the error
};

// The combination of cell means where CellUnits::clusters tells which unit belongs to which cluster, one unit of a cluster
// in a cell. Absent where the cells have no clusters. Clusters that hold the same cells are alike: what one of them adds to
// the combination is one draw, whatever its cells have in common, and the variances of the groups add up (Satterthwaite).
// All in all cells it is the paired t test, all in one cell each Welch's, but for degrees of freedom that are never more than
// the arrangement gives. Where a group has one cluster only, each cluster's deviation counts on its own (CR2: Bell & McCaffrey
// 2002, Pustejovsky & Tipton 2018), with the fewer degrees of freedom of cells that vary alike and as they were seen to.
std::optional<Result<ClusterContrast>> cluster_contrast(const CellCoefficients& coefficients, double alpha);

}  // namespace stab::report
