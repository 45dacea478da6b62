// Cell pairs: any two cells against each other, for a reader who picks them after seeing the results. No plan declared
// these questions and they get no verdict. Whoever picks the two that lie furthest apart needs the interval that holds for
// all pairs at once (Bonferroni over the pairs of one workload, or over those of all together); both intervals are given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// Cell b against cell a, on people's scale: a ratio of geometric means, or a difference.
struct CellPair {
  size_t a = 0, b = 0;     // a < b, indexes into CellPairs::cells
  Interval one;            // at 1 - level, for this pair alone
  Interval all;            // at 1 - level for all pairs of the family at once
  uint64_t n = 0;          // independent values: blocks, or units of the smaller cell
  std::string refused;     // then the above are not set
};

// One family. invariant: pairs in order of (a, b)
struct CellPairs {
  std::string workload;                      // empty: over these workloads
  std::vector<std::vector<uint32_t>> cells;  // the levels of each, one for each factor
  std::vector<CellPair> pairs;
};

struct PairsOfResponse {
  uint64_t asked = 0;               // pairs there are, over all workloads
  bool too_many = false;            // more than kMostCellPairs: none were computed
  std::vector<CellPairs> families;  // each workload's; with several also those over these workloads, last
};

inline constexpr uint64_t kMostCellPairs = 10'000;

// level: two-sided, of an interval. pre: units[w] are the units of samples.workloads[w] in this response
PairsOfResponse cell_pairs(const Samples& samples, size_t response, const std::vector<WorkloadUnits>& units, double level);

}  // namespace stab::report
