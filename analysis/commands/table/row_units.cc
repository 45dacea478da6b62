// From rows to cells; rows of one block or one cluster first become one observation.
#include "analysis/commands/table/row_units.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/statistics/models/separate_parts.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::commands {

RowCells row_cells(size_t rows, const std::vector<CsvColumn>& factors, const CsvColumn* subject) {
  RowCells result;
  for (const CsvColumn& factor : factors) result.cells *= factor.levels.size();
  if (subject) result.workloads = subject->levels.size();
  result.of_row.resize(rows);
  for (size_t row = 0; row < rows; ++row) {
    size_t cell = subject ? subject->codes[row] : 0;
    for (const CsvColumn& factor : factors) cell = cell * factor.levels.size() + factor.codes[row];
    result.of_row[row] = static_cast<uint32_t>(cell);
  }
  return result;
}

std::vector<report::WorkloadUnits> cells_of(const std::vector<Observation>& observations, const RowCells& rows,
                                    const std::vector<CsvColumn>& factors, bool log_scale, bool clustered) {
  std::vector<report::WorkloadUnits> workloads(rows.workloads);
  std::vector<uint64_t> sizes(rows.workloads * rows.cells);
  for (const Observation& observation : observations) ++sizes[observation.cell];
  std::vector<report::CellUnits*> at(sizes.size());
  for (size_t cell = 0; cell < sizes.size(); ++cell) {
    if (sizes[cell] > 0) workloads[cell / rows.cells].cells.emplace_back();
  }
  std::vector<size_t> used(workloads.size(), 0);
  for (size_t cell = 0; cell < sizes.size(); ++cell) {
    if (sizes[cell] == 0) continue;
    report::CellUnits& units = workloads[cell / rows.cells].cells[used[cell / rows.cells]++];
    at[cell] = &units;
    units.levels.resize(factors.size());
    size_t rest = cell % rows.cells;
    for (size_t f = factors.size(); f-- > 0; rest /= factors[f].levels.size())
      units.levels[f] = static_cast<uint32_t>(rest % factors[f].levels.size());
    units.raw.reserve(sizes[cell]);
    units.values.reserve(sizes[cell]);
    units.orders.reserve(sizes[cell]);
  }
  for (const Observation& observation : observations) {
    report::CellUnits& units = *at[observation.cell];
    units.values.push_back(observation.value);
    units.raw.push_back(log_scale ? std::exp(observation.value) : observation.value);
    units.orders.push_back(observation.order);
    if (clustered) units.clusters.push_back(observation.cluster);
    if (observation.noise > 0) units.unit_noise.push_back(observation.noise);
  }
  for (report::WorkloadUnits& workload : workloads) {
    for (report::CellUnits& units : workload.cells) {
      units.blocks.assign(units.values.size(), 0);
      units.moments = statistics::moments(units.values);
    }
  }
  return workloads;
}

namespace {

// Values less what their blocks add.
struct WithoutBlocks {
  std::vector<double> values;
  // Each row's share of its block's fitted effect times the variance of a row: by so much the variance of what is left is too
  // small.
  std::vector<double> noise;
  double noise_df = 0;
};

// Rows of one cell and one group, averaged. pre: groups are numbered as group_of_row says
// noise: of each row; empty: none
std::vector<Observation> averaged(const std::vector<double>& values, const RowCells& rows,
                                  const std::vector<uint32_t>& group_of_row, const std::vector<double>& noise = {}) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<size_t>> members;
  for (size_t row = 0; row < values.size(); ++row) members[{rows.of_row[row], group_of_row[row]}].push_back(row);
  std::vector<Observation> observations;
  for (const auto& [key, of_group] : members) {
    std::vector<double> together;
    double of_mean = 0;
    const auto count = static_cast<double>(of_group.size());
    for (size_t row : of_group) {
      together.push_back(values[row]);
      if (!noise.empty()) of_mean += noise[row] / (count * count);
    }
    observations.push_back({key.first, static_cast<uint32_t>(of_group[0]), key.second, statistics::mean(together), of_mean});
  }
  std::sort(observations.begin(), observations.end(),
            [](const Observation& a, const Observation& b) { return a.order < b.order; });
  return observations;
}

// Numbers for pairs, in the order in which they come up.
std::vector<size_t> numbered(const std::vector<std::pair<uint32_t, uint32_t>>& pairs, size_t& count) {
  std::map<std::pair<uint32_t, uint32_t>, size_t> numbers;
  std::vector<size_t> out;
  for (const auto& pair : pairs) out.push_back(numbers.try_emplace(pair, numbers.size()).first->second);
  count = numbers.size();
  return out;
}

// Each cluster in each cell and the blocks fitted together by least squares, one after the other until neither moves: a block's
// effect holds nothing of the clusters that ran in it, only a part of its rows' own noise.
WithoutBlocks without_blocks(const std::vector<double>& values, const RowCells& rows, const CsvColumn& block,
                             const CsvColumn& cluster) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (size_t row = 0; row < values.size(); ++row) pairs.emplace_back(rows.of_row[row], cluster.codes[row]);
  size_t count = 0;
  const std::vector<size_t> group_of = numbered(pairs, count);
  std::vector<double> groups(count), blocks(block.levels.size());
  std::vector<double> group_rows(groups.size()), block_rows(blocks.size());
  for (size_t row = 0; row < values.size(); ++row) {
    group_rows[group_of[row]] += 1;
    block_rows[block.codes[row]] += 1;
  }
  double largest = 0;
  for (double value : values) largest = std::max(largest, std::fabs(value));
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> group_sums(groups.size()), block_sums(blocks.size());
    for (size_t row = 0; row < values.size(); ++row) group_sums[group_of[row]] += values[row] - blocks[block.codes[row]];
    for (size_t g = 0; g < groups.size(); ++g) groups[g] = group_sums[g] / group_rows[g];
    for (size_t row = 0; row < values.size(); ++row) block_sums[block.codes[row]] += values[row] - groups[group_of[row]];
    double moved = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
      moved = std::max(moved, std::fabs(block_sums[b] / block_rows[b] - blocks[b]));
      blocks[b] = block_sums[b] / block_rows[b];
    }
    if (moved <= 1e-13 * largest) break;
  }
  WithoutBlocks out{values, std::vector<double>(values.size()), 0};
  double squares = 0;
  for (size_t row = 0; row < values.size(); ++row) {
    out.values[row] -= blocks[block.codes[row]];
    const double left = out.values[row] - groups[group_of[row]];
    squares += left * left;
  }
  out.noise_df = static_cast<double>(values.size()) - static_cast<double>(groups.size() + blocks.size()) +
                 static_cast<double>(statistics::separate_parts(group_of, count, block.codes, block.levels.size()));
  if (out.noise_df <= 0) return out;
  for (size_t row = 0; row < values.size(); ++row) out.noise[row] = squares / out.noise_df / block_rows[block.codes[row]];
  return out;
}

}  // namespace

Result<std::vector<report::WorkloadUnits>> grouped_cells(const std::vector<double>& values, const RowCells& rows,
                                                 const std::vector<CsvColumn>& factors, const CsvColumn* block,
                                                 const CsvColumn* cluster, bool log_scale) {
  WithoutBlocks adjusted{values, {}, 0};
  const CsvColumn* draw = cluster ? cluster : block;
  std::vector<Observation> observations;
  if (block && cluster) {
    std::vector<uint32_t> block_of(cluster->levels.size(), UINT32_MAX);
    bool nested = true;
    for (size_t row = 0; row < values.size(); ++row) {
      uint32_t& home = block_of[cluster->codes[row]];
      if (home == UINT32_MAX) home = block->codes[row];
      nested = nested && home == block->codes[row];
    }
    if (nested) {
      draw = block;
      // A block's cell is the mean of its clusters', each as heavy as the others.
      const std::vector<Observation> of_clusters = averaged(values, rows, cluster->codes);
      RowCells again{rows.cells, rows.workloads, {}};
      std::vector<double> means;
      std::vector<uint32_t> blocks;
      for (const Observation& one : of_clusters) {
        again.of_row.push_back(one.cell);
        means.push_back(one.value);
        blocks.push_back(block_of[one.cluster]);
      }
      observations = averaged(means, again, blocks);
      for (Observation& one : observations) one.order = of_clusters[one.order].order;
    } else {
      adjusted = without_blocks(values, rows, *block, *cluster);
    }
  }
  if (observations.empty()) observations = averaged(adjusted.values, rows, draw->codes, adjusted.noise);
  std::vector<report::WorkloadUnits> workloads = cells_of(observations, rows, factors, log_scale, true);
  for (report::WorkloadUnits& workload : workloads) {
    for (report::CellUnits& cell : workload.cells) cell.noise_df = adjusted.noise_df;
    workload.shares_clusters = draw == cluster;
    std::map<uint32_t, size_t> cells_with;
    for (const report::CellUnits& cell : workload.cells)
      for (uint32_t name : cell.clusters) ++cells_with[name];
    const auto complete = static_cast<size_t>(std::count_if(
        cells_with.begin(), cells_with.end(), [&](const auto& one) { return one.second == workload.cells.size(); }));
    const bool crossed = complete == cells_with.size();
    const bool nested = std::all_of(cells_with.begin(), cells_with.end(), [](const auto& one) { return one.second == 1; });
    // A block that lacks cells still compares those that it has. Clusters that do are repeats of some cells' own.
    if (workload.cells.size() > 1 && (crossed || (draw == block && !nested))) {
      workload.rows_in_blocks = true;
      for (report::CellUnits& cell : workload.cells) {
        cell.blocks = cell.clusters;
        cell.trial_values = cell.values;
        cell.trial_blocks = cell.clusters;
        cell.trial_orders = cell.orders;
        cell.trial_links.assign(cell.values.size(), 0);
      }
    }
    // Of blocks that mostly hold all cells each term is judged within them, as in experiments.
    const bool mostly = draw == block && 2 * complete >= cells_with.size();
    if (!crossed && !nested && !mostly) {
      workload.anova_refused = "some values of '" + draw->name +
                               "' are in several cells and not in all: which error a term has differs "
                               "from term to term; the contrasts take it into account";
    }
  }
  return workloads;
}

}  // namespace stab::commands
