// Units: from trials to independent observations. A layout is the unit of replication, so trials that repeat
// one layout are averaged first, and a cell whose trials all share one layout is marked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/models/linear_model.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::report {

// One cell of one workload in one response, excluded trials and absent values left out.
// invariant: values, blocks and orders have the same length, so have trial_*; moments == moments(values)
struct CellUnits {
  std::vector<uint32_t> levels;  // one for each factor
  std::vector<double> raw;       // each trial, as measured
  std::vector<double> values;    // each unit, on the response's scale (log or linear)
  std::vector<uint32_t> blocks;  // of each unit: the block of its first trial
  std::vector<uint32_t> orders;
  statistics::Moments moments;
  // Each trial on the response's scale, with the block it ran in and its link. Empty where rows are not trials.
  std::vector<double> trial_values;
  std::vector<uint32_t> trial_blocks;
  std::vector<uint64_t> trial_links;
  std::vector<uint64_t> trial_layouts;
  std::vector<uint32_t> trial_orders;
  // Of each unit, where the data say what belongs together (analyze's --block and --cluster). Empty: nothing does.
  std::vector<uint32_t> clusters;
  // By how much the variance of each unit is too small, as blocks' fitted effects that were taken off hold a part of its noise.
  // Empty: nothing was taken off.
  std::vector<double> unit_noise;
  double noise_df = 0;
  bool code_fixed = false;       // its layout is the link's, not the seed's
  bool one_layout = false;       // code isn't randomized and there is one link: values are repeats of a layout
  bool spans_blocks = false;     // some unit averages trials of several blocks: links that come back
  // Its trials ran beside those of their blocks' other cells: what they have in common is far larger than what tells them apart,
  // so they are never values that are independent of others'.
  bool sliced = false;
  // Where units have several trials each: variance within units (run noise), pooled. 0 trials a unit: none.
  double within_unit_m2 = 0;
  uint64_t within_unit_df = 0;
};

struct WorkloadUnits {
  std::vector<CellUnits> cells;  // those that have values, in order of their levels
  bool spans_blocks = false;     // in some cell
  bool shares_clusters = false;  // CellUnits::clusters are the data's, not blocks: other workloads may have the same
  bool rows_in_blocks = false;   // plain data (Unit::kRow) whose blocks count: analyze's --block, or clusters in every cell
  std::string anova_refused;     // why a table of fixed effects would be wrong here; empty: it isn't
};

// The levels of each cell, factor by factor, in the order of cells.
statistics::FactorCodes cell_codes(const Samples& samples, const std::vector<CellUnits>& cells);
// "code=off, opt=-O2": the levels of a cell, of the factors that have several; the factor `but` is left out.
std::string text_of_levels(const Samples& samples, const std::vector<uint32_t>& levels, std::optional<size_t> but = {});

WorkloadUnits units_of(const Samples& samples, uint32_t workload, size_t response);

size_t program_count(const Samples& samples);
// One value for each program, in order of their first workload: the mean of its workloads'.
// pre: of_workloads.size() == samples.workloads.size()
std::vector<double> means_by_program(const Samples& samples, const std::vector<double>& of_workloads);

// Whether the plan has a factor for where code lies; else it is as linked.
bool has_code_factor(const Samples& samples);

// Whether trials of different cells have a block in common. False: each block is one draw of one cell, as in one random order of
// all trials, and says nothing of when it ran.
bool has_blocks(const Samples& samples);

}  // namespace stab::report
