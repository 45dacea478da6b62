// Rows of a table as the units of an analysis: which cell each belongs to, and what must not count several times.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/commands/table/csv.h"
#include "analysis/report/experiment/replication_units.h"
#include "base/result.h"

namespace stab::commands {

// Which workload and cell each row belongs to: the subject, then the factors' levels, the last one fastest.
struct RowCells {
  size_t cells = 1;  // of a workload
  size_t workloads = 1;
  std::vector<uint32_t> of_row;
};
RowCells row_cells(size_t rows, const std::vector<CsvColumn>& factors, const CsvColumn* subject);

// One observation: a row, or the mean of rows that belong together.
struct Observation {
  uint32_t cell = 0;
  uint32_t order = 0;    // its first row
  uint32_t cluster = 0;  // what it is a draw of; unused for plain rows
  double value = 0;      // on the response's scale
  double noise = 0;      // by which its variance is too small: report::CellUnits::unit_noise
};

// Observations of each workload and cell, in file order. `clustered`: they carry clusters.
std::vector<report::WorkloadUnits> cells_of(const std::vector<Observation>& observations, const RowCells& rows,
                                    const std::vector<CsvColumn>& factors, bool log_scale, bool clustered);

// What the rows of one group have in common must not count several times. Blocks: each is a draw of the comparison of its
// cells. Clusters: each is a draw wherever its rows lie; within blocks they are averaged by block, across blocks the blocks'
// effects are taken off first.
// pre: block or cluster is there; values are on the response's scale
Result<std::vector<report::WorkloadUnits>> grouped_cells(const std::vector<double>& values, const RowCells& rows,
                                                 const std::vector<CsvColumn>& factors, const CsvColumn* block,
                                                 const CsvColumn* cluster, bool log_scale);

}  // namespace stab::commands
