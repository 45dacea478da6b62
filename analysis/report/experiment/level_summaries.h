// What the trials of one level, or of a pair of levels of two factors, are like: for whoever looks at a part of them.
// Descriptions, no comparisons: verdicts are the plan's, and of all trials.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/experiment/samples.h"

namespace stab::report {

struct CellUnits;
struct WorkloadUnits;

struct LevelSummary {
  std::string response, workload;
  std::vector<std::pair<std::string, std::string>> levels;  // factor and level: none, one, or two in the design's order
  uint64_t n = 0;       // trials with a value
  uint64_t units = 0;   // layouts, or what else counts as independent
  uint64_t cells = 0;   // that they are of
  // Of the trials as measured. Quantiles are those of R's type 7.
  double median = 0, lower_quartile = 0, upper_quartile = 0, least = 0, most = 0;
  std::optional<double> sd;  // n >= 2
  // The mean of the cells' means, each cell counted once; on the log scale of geometric means. Its interval, at 1 - alpha, is
  // that of the blocks' means; where rows have no blocks it is by the cells' own spreads and Satterthwaite's degrees of freedom,
  // and of one cell it is that of the cell.
  double mean = 0;
  std::optional<std::pair<double, double>> interval;
  std::string no_interval;   // why there is none
  bool one_layout = false;   // some cell repeats one layout: n repeats, not n layouts
};

struct LevelSummaries {
  std::vector<LevelSummary> all;
  uint64_t left_out = 0;  // single levels or pairs that are not among them, as there are too many
};

// Of declared responses that are no benchmarks. pre: all analysed values are finite, as analyse() checks
LevelSummaries level_summaries_of(const Samples& samples, const std::vector<std::vector<WorkloadUnits>>& units);

// Mean and interval alone, of the mean of these cells. in_blocks: their blocks count, so that they may have errors in common.
LevelSummary mean_of_cells(const std::vector<const CellUnits*>& cells, const Samples& samples, bool in_blocks, Scale scale);

}  // namespace stab::report
