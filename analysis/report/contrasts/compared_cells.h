// Compared cells: which cells of a workload a contrast compares, and how heavy each is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/experiment/draws.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "base/result.h"

namespace stab::report {

// Which cells a contrast of one level of a factor against its baseline compares, each with its coefficient.
struct ComparedCells {
  CellCoefficients coefficients;
  std::vector<statistics::Stratum2> strata;  // pairs of cells to rank within; empty where cells don't pair up
  double level = 0;              // the mean of the baseline's cells: what a relative margin is a share of
  bool one_layout = false;
  std::vector<std::string> aliases;
};

// Pairs of cells that differ in this factor only, each as heavy as the others. Refuses where there is nothing to compare, or
// where a treatment's difference may be luck of the linker.
Result<ComparedCells> compared_cells(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload);

}  // namespace stab::report
