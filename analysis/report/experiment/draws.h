// Draws: which values of an experiment in blocks are independent, when layouts come from links that recur.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::report {

// A linear combination of cells of one workload; coefficients sum to zero.
using CellCoefficients = std::map<const CellUnits*, double>;

// The error of an estimate by the draws that others may have part in: the links of a program's binaries, which all its workloads
// run, or clusters that the data name. The sum of squares is the variance that they account for, and the sum of the products with
// another estimate's the covariance; `rest` is the variance of what is the estimate's own.
struct Shared {
  std::map<uint64_t, double> parts;  // empty: all of the error is the estimate's own
  double df = 0;
  double rest = 0, rest_df = 0;
};

// The combination within each block, averaged over blocks that share a link: one value for each independent draw. Runs and
// counter passes of one cell in one block are averaged. Absent where blocks don't hold: too few of them are complete (half; of
// sliced ones two), one seed ran in several blocks, or a block mixes links that come back in others. In the order of the run,
// unless links recur.
std::optional<std::vector<double>> block_contrasts(const CellCoefficients& coefficients);
// The mean of the cells that have the factor's baseline, over the blocks that the combination is taken from. Absent as above, and
// where no cell has it.
std::optional<double> baseline_in_blocks(const CellCoefficients& coefficients, size_t factor, uint32_t baseline);
// The combination by what each value is a draw of: the link where links recur, else the block.
struct BlockDraws {
  std::map<uint64_t, double> values;
  bool recurring = false;
  uint64_t left_out = 0;  // blocks that lack one of the cells
  double rounding = 0;    // what is left at most of cells that cancel
};
std::optional<BlockDraws> block_draws(const CellCoefficients& coefficients);

// Its layout is the link's, and it ran several.
bool is_linked(const CellUnits& cell);

// Blocks and links crossed: in one block the cells with code off run different links, and a link comes back in other
// blocks and cells. Cells, blocks and links are fitted together by least squares, once for a workload.
struct LinkFit {
  struct Row {
    size_t cell = 0;               // index into WorkloadUnits::cells
    uint32_t block = 0;
    std::optional<uint64_t> link;  // none: the layout is the trial's own
    uint64_t layout = 0;           // of a row that has a link: its binary
    double measured = 0;           // on the response's scale; runs and passes averaged
    double value = 0;              // the same, the block's effect taken off
  };
  std::vector<Row> rows;
  bool blocked = false;            // blocks were fitted: enough of them hold most of the cells
  double correction = 1;           // of variances between rows whose layouts are their own, for the blocks fitted
  // Runs of one binary, a block's effect taken off; 0 degrees of freedom: no binary ran often enough to tell.
  double run_variance = 0, run_df = 0;
};
LinkFit fit_links(const WorkloadUnits& workload);

// The combination where blocks and links are crossed. A link is one draw: what it adds to the contrast over all its cells
// counts once, with links - 1 degrees of freedom; a shuffled cell adds its own variance. Absent where none of the cells is
// linked, or they differ in their links. pre: the fit is of this workload, and so are the cells
struct LinkContrast {
  statistics::TTest test;  // two-sided, 1 - alpha
  bool blocked = false;  // block effects were taken off
  Shared shared;         // what each link adds to the error
};

// What each link adds to the combination, over all its cells that are linked. A block's fitted effect holds a part of the runs'
// noise, but nothing of the links, which are fitted beside it: `noise` is by how much the draws' variance is too small.
struct LinkDraws {
  std::map<uint64_t, double> values;
  double noise = 0, noise_df = 0;
};
std::optional<LinkDraws> link_draws(const LinkFit& fit, const WorkloadUnits& workload, const CellCoefficients& coefficients);
std::optional<LinkContrast> link_contrast(const LinkFit& fit, const WorkloadUnits& workload,
                                          const CellCoefficients& coefficients, double alpha);

// One row for each independent draw: the means of all cells over the blocks that share a link, or over one block.
// Blocks that lack a cell are left out. Empty where these are most (of sliced ones any number may be), where a block mixes links
// that come back or a seed ran in several, and with fewer than 3 draws. `by_link` tells which it was.
std::vector<std::vector<double>> complete_draws(const std::vector<CellUnits>& cells, bool* by_link);

}  // namespace stab::report
