// Environment: what differed in the machine, or machines, between the trials of one experiment: a kernel that was changed
// between two runs of it, a governor, a CPU, a boot. And whether it differs together with what the experiment asks about.
//
// A fact that has one value within each block is taken out of comparisons with the block. One whose values are shared out
// unevenly among the levels of a factor is not: its effect is in the factor's difference. That comes about where an experiment
// goes on after a break within a block, or where the trials of one cell were run again later. How unevenly is the total variation
// distance between the shares of its values: within blocks that have both levels where these are compared within blocks, over all
// trials else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/experiment/samples.h"

namespace stab::report {

struct Contrast;

struct EnvironmentValue {
  std::string value;
  bool told = true;  // false: of these trials nobody knows it, and value is empty
  uint64_t trials = 0, blocks = 0;
  uint32_t first_block = 0, last_block = 0;
  std::vector<std::string> machines;  // empty: there was one
};

// How unevenly the levels of a factor have a fact's values.
struct EnvironmentSplit {
  std::string factor, level, baseline;
  std::string value;                 // the one whose shares differ most
  double share = 0, baseline_share = 0;  // of each level's trials; compared within blocks, their mean over blocks with both
  double share_difference() const { return share > baseline_share ? share - baseline_share : baseline_share - share; }
};

// Along what a fact differs: whoever reads a difference of theirs reads this fact, too.
enum class EnvironmentAlong {
  kMachines,  // each machine has one value
  kBlocks,    // each block has one
  kTrials,    // some block has several
};
std::string_view name(EnvironmentAlong along);

// invariant: values.size() >= 2
struct EnvironmentDifference {
  std::string fact;
  bool says_where = false;               // which boot, host or CPU: differs by itself where a run goes on, and is no condition
  std::vector<EnvironmentValue> values;  // in the order of the run
  EnvironmentAlong along = EnvironmentAlong::kTrials;
  std::vector<EnvironmentSplit> splits;  // worst first; at most one for each factor
};

struct EnvironmentTable {
  uint32_t compared = 0;           // facts
  uint64_t trials = 0;             // that are analysed
  uint64_t unrecorded_trials = 0;  // of them, those of which at most the boot and the CPU are known
  std::vector<EnvironmentDifference> differences;
};

// Does a fact of this name say which boot, host or CPU it was?
bool says_where(std::string_view fact);

// Of the trials that are analysed. contrasts: those of the report, which tell what is compared within blocks
EnvironmentTable environment_table_of(const Samples& samples, const std::vector<Contrast>& contrasts);

// "kernel.release was '6.1' in blocks 0 to 9 and '6.8' in blocks 10 to 19", at most three values of it; long values without the
// words that all have.
std::string environment_words(const EnvironmentDifference& difference);
// "-O3 ran under '6.8' in 100 % of its trials, -O2 in 0 %"; shown: shown_values() of it
std::string split_words(const EnvironmentDifference& difference, const std::vector<std::string>& shown,
                        const EnvironmentSplit& split);
// The values of a fact as they are shown side by side: of long ones only what is not in all of them.
std::vector<std::string> shown_values(const EnvironmentDifference& difference);

}  // namespace stab::report
