// Run changes: where, in the order of the run, values begin to lie otherwise than before. A neighbour's job, a machine that
// throttles, a night that ends: blocks take most of that out of comparisons, and somebody should still know of it.
//
// Looked at are the trials of all workloads together, each as its difference from the mean of its cell in standard deviations of
// that cell, so that only what the machine did is left. If nothing changed, whole blocks could have come in any order, and the
// trials within each, and E-divisive (e_divisive.h) asks whether they look so, in mean, spread or shape. Trials of different
// blocks can't change places: a block's have in common what the block adds. Trials of one layout in a block, runs of a seed or
// passes of counters, are alike, so their mean counts once. Long runs are looked at in chunks of consecutive trials. What a block
// remembers of the one before it breaks this assumption: changes are then found that nobody made. How often:
// docs/explanation/how-often-wrong.md.
#pragma once

#include <vector>

#include "analysis/report/report_data/report.h"

namespace stab::report {

struct RunSearch {
  std::vector<RunChanges> runs;
  uint64_t not_searched = 0;  // the last ones, where all together would take more than some seconds
};

// One for each declared response that no benchmark gave, and for each machine that ran blocks. Nothing of plain rows, whose order
// nobody drew, and of fewer than 20 trials.
RunSearch search_run(const Samples& samples);

// "+2.30 % (slower) from position 590 of the run on (block 9, p = 0.005)": against what came right before it.
// pre: i < run.changes.size()
std::string run_change_text(const Response& response, const RunChanges& run, size_t i);

// "12 more runs of machines or responses were not searched, since all together would take too long"
std::string runs_not_searched_text(uint64_t not_searched);

}  // namespace stab::report
