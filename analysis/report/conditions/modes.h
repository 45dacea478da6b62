// Modes: which cells' values fall into groups instead of lying around one hump. Means and intervals stay right for them, but a
// mean between two groups describes no trial, and what makes the groups (a layout, a state of the machine) is often the news.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// Fills in dip, dip_p, dip_p_holm and modes of each cell of at least kLeastForModes independent values (unimodality.h). Holm's
// family is that of one response. Benchmarks of a program's own output are left out: there are hundreds, and nobody declared
// their cells.
// pre: cells as analyse() lists them: by response, workload and the order of units[r][w].cells
inline constexpr size_t kLeastForModes = 8;
void find_modes(const Samples& samples, const std::vector<std::vector<WorkloadUnits>>& units, std::vector<Cell>& cells);

// "lua/words, opt=-O1": its workload, and its levels of the factors that vary.
std::string cell_text(const Report& report, const Cell& cell);
// "2 groups, around 1.041 s (19 of 30) and 1.115 s (11)". pre: cell.modes.size() > 1
std::string modes_text(const Response& response, const Cell& cell);

}  // namespace stab::report
