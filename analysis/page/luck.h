// Luck: what a comparison would have said that links each program once, as nearly everybody's does. Computed from the
// links that this experiment recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"

namespace stab::page {

// Differences of two means of links, on the response's scale, over all pairs.
struct LuckOfLinks {
  std::string workload;
  std::vector<uint32_t> level, baseline;  // of the two cells; equal: two links of the same build
  uint64_t links = 0, pairs = 0;
  uint64_t fewest_runs = 0;               // that a link's mean rests on
  double truth = 0;                       // difference of the means over all links
  double wrong = 0;                       // share of pairs with the other sign than `truth`; same build: 0
  double beyond_margin = 0;               // share of pairs further than the margin from `truth`
  std::vector<double> differences;        // sorted; of many pairs, quantiles
};

// Of each pair of cells that runs code as linked, with 2 links or more a side, and that differs in one treatment; and of
// each such cell with itself. margin is on the response's scale.
std::vector<LuckOfLinks> luck_of(const report::Samples& samples, const std::string& workload, const report::WorkloadUnits& units,
                                 double margin);

}  // namespace stab::page
