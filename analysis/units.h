// Units: from trials to independent observations. A layout is the unit of replication, so trials that repeat
// one layout are averaged first, and a cell whose trials all share one layout is marked.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/descriptive.h"
#include "analysis/samples.h"

namespace stab::analysis {

// One cell of one workload in one response, excluded trials and absent values left out.
// invariant: values, blocks and orders have the same length, so have trial_*; moments == moments(values)
struct CellUnits {
  std::vector<uint32_t> levels;  // one for each factor
  std::vector<double> raw;       // each trial, as measured
  std::vector<double> values;    // each unit, on the response's scale (log or linear)
  std::vector<uint32_t> blocks;  // of each unit: the block of its first trial
  std::vector<uint32_t> orders;
  Moments moments;
  // Each trial on the response's scale, with the block it ran in and its link. Empty where rows are not trials.
  std::vector<double> trial_values;
  std::vector<uint32_t> trial_blocks;
  std::vector<uint64_t> trial_links;
  bool code_fixed = false;       // its layout is the link's, not the seed's
  bool one_layout = false;       // code isn't randomized and there is one link: values are repeats of a layout
  // Where units have several trials each: variance within units (run noise), pooled. 0 trials a unit: none.
  double within_unit_m2 = 0;
  uint64_t within_unit_df = 0;
};

struct WorkloadUnits {
  std::vector<CellUnits> cells;  // those that have values, in order of their levels
  bool collapsed = false;        // some unit averages several trials
};

// Whether a level's name says that it fixes the layout: off, none, copy, zero, base.
bool fixes_layout(std::string_view level);

WorkloadUnits units_of(const Samples& samples, uint32_t workload, size_t response);

size_t program_count(const Samples& samples);
// One value for each program, in order of their first workload: the mean of its workloads'.
// pre: of_workloads.size() == samples.workloads.size()
std::vector<double> means_by_program(const Samples& samples, const std::vector<double>& of_workloads);

// The factor named "code", or none: then code is as linked.
const Factor* code_factor(const Samples& samples, size_t* index);

}  // namespace stab::analysis
