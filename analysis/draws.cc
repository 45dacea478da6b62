// Blocks and links. A block is one pass over the cells: what the machine did to all of it cancels in a combination
// taken within the block. A link is one draw of a layout, wherever it runs: what it adds must count once.
//
// Blocks that each run one link are easy: the combination within blocks, averaged by link. The lab's schedule crosses
// them, so that each cell runs each link equally often, and then both effects have to be fitted.
#include "analysis/draws.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/descriptive.h"

namespace stab::analysis {

std::optional<std::vector<double>> block_contrasts(const CellCoefficients& coefficients) {
  struct Block {
    double sum = 0;
    size_t cells = 0;
    std::optional<uint64_t> link;
  };
  std::map<uint32_t, Block> blocks;
  for (const auto& [cell, coefficient] : coefficients) {
    if (cell->trial_values.empty() || (!cell->code_fixed && cell->within_unit_df > 0)) return {};
    std::set<uint32_t> seen;
    for (size_t i = 0; i < cell->trial_values.size(); ++i) {
      if (!seen.insert(cell->trial_blocks[i]).second) return {};
      Block& block = blocks[cell->trial_blocks[i]];
      block.sum += coefficient * cell->trial_values[i];
      ++block.cells;
      if (!cell->code_fixed || cell->one_layout) continue;
      if (block.link && *block.link != cell->trial_links[i]) return {};
      block.link = cell->trial_links[i];
    }
  }
  std::map<std::pair<bool, uint64_t>, std::pair<double, double>> draws;  // by link, else by block: sum, count
  size_t complete = 0;
  for (const auto& [number, block] : blocks) {
    if (block.cells != coefficients.size()) continue;
    ++complete;
    auto& [sum, count] = draws[{block.link.has_value(), block.link.value_or(number)}];
    sum += block.sum;
    count += 1;
  }
  if (draws.size() < 2 || 2 * complete < blocks.size()) return {};
  std::vector<double> values;
  for (const auto& [key, draw] : draws) values.push_back(draw.first / draw.second);
  return values;
}

// Blocks and links crossed: in one block the cells with code off run different links, and a link comes back in other
// blocks and cells. Block effects are taken off first (least squares on cells, blocks and links together). Then a link
// is one draw: what it adds to the contrast over all its cells counts once, with links - 1 degrees of freedom; a
// shuffled cell adds its own variance. Absent where no cell has several links, or cells differ in their links.
std::optional<LinkContrast> link_contrast(const Samples& samples, const WorkloadUnits& workload,
                                          const CellCoefficients& coefficients) {
  struct Observation {
    size_t cell = 0;
    uint32_t block = 0;
    std::optional<uint64_t> link;
    double value = 0;
  };
  // Runs and passes of one cell in one block are one observation.
  std::vector<Observation> rows;
  for (size_t c = 0; c < workload.cells.size(); ++c) {
    const CellUnits& cell = workload.cells[c];
    std::map<uint32_t, std::pair<Observation, double>> by_block;
    for (size_t i = 0; i < cell.trial_values.size(); ++i) {
      auto& [row, count] = by_block[cell.trial_blocks[i]];
      row.cell = c;
      row.block = cell.trial_blocks[i];
      if (cell.code_fixed && !cell.one_layout) row.link = cell.trial_links[i];
      row.value += cell.trial_values[i];
      count += 1;
    }
    for (auto& [block, row] : by_block) {
      row.first.value /= row.second;
      rows.push_back(row.first);
    }
  }
  // The binary that an observation ran: the link's number within its treatments.
  const auto binary = [&](const Observation& row) {
    std::vector<uint64_t> key{*row.link};
    for (size_t f = 0; f < samples.factors.size(); ++f)
      if (!samples.factors[f].layout) key.push_back(workload.cells[row.cell].levels[f]);
    return key;
  };
  std::map<uint32_t, std::pair<double, double>> blocks;  // effect and number of cells
  std::map<std::vector<uint64_t>, std::pair<double, double>> links;
  std::vector<std::pair<double, double>> cells(workload.cells.size());
  for (const Observation& row : rows) blocks[row.block].second += 1;
  const auto cell_count = static_cast<double>(workload.cells.size());
  // Blocks that hold few of the cells would take the cells' own differences for theirs.
  const bool use_blocks = cell_count >= 2 &&
                          static_cast<double>(rows.size()) >= 0.75 * cell_count * static_cast<double>(blocks.size());
  // Each effect in turn is the mean of what the others leave; the designs are near orthogonal, so this settles fast.
  for (int round = 0; round < 1000; ++round) {
    double moved = 0;
    const auto move = [&moved](double& effect, double to) {
      moved = std::max(moved, std::fabs(to - effect));
      effect = to;
    };
    std::map<uint32_t, std::pair<double, double>> new_blocks;
    std::map<std::vector<uint64_t>, std::pair<double, double>> new_links;
    std::vector<std::pair<double, double>> new_cells(cells.size());
    const auto link_effect = [&](const Observation& row) { return row.link ? links[binary(row)].first : 0.0; };
    for (const Observation& row : rows) {
      auto& [sum, count] = new_cells[row.cell];
      sum += row.value - blocks[row.block].first - link_effect(row);
      count += 1;
    }
    for (size_t c = 0; c < cells.size(); ++c) {
      if (new_cells[c].second > 0) move(cells[c].first, new_cells[c].first / new_cells[c].second);
    }
    for (const Observation& row : rows) {
      if (!row.link) continue;
      auto& [sum, count] = new_links[binary(row)];
      sum += row.value - blocks[row.block].first - cells[row.cell].first;
      count += 1;
    }
    for (const auto& [key, effect] : new_links) move(links[key].first, effect.first / effect.second);
    if (use_blocks) {
      for (const Observation& row : rows) {
        auto& [sum, count] = new_blocks[row.block];
        sum += row.value - cells[row.cell].first - link_effect(row);
        count += 1;
      }
      for (const auto& [key, effect] : new_blocks) move(blocks[key].first, effect.first / effect.second);
    }
    if (moved < 1e-13) break;
  }

  std::map<size_t, std::vector<double>> shuffled;                              // values by cell
  std::map<uint64_t, std::map<size_t, std::pair<double, double>>> of_link;     // link: cell: sum and count
  size_t linked_cells = 0;
  for (const auto& [cell, coefficient] : coefficients) linked_cells += cell->code_fixed && !cell->one_layout;
  if (linked_cells == 0) return {};
  for (const Observation& row : rows) {
    if (!coefficients.contains(&workload.cells[row.cell])) continue;
    const double value = row.value - blocks[row.block].first;
    if (!row.link) {
      shuffled[row.cell].push_back(value);
      continue;
    }
    auto& [sum, count] = of_link[*row.link][row.cell];
    sum += value;
    count += 1;
  }
  std::vector<double> draws;
  for (const auto& [link, parts] : of_link) {
    if (parts.size() != linked_cells) return {};
    draws.push_back(0);
    for (const auto& [cell, part] : parts)
      draws.back() += coefficients.at(&workload.cells[cell]) * part.first / part.second;
  }
  if (draws.size() < 2) return {};
  // A block's estimated effect holds 1 / cells of each of its own values: residuals are that much too small.
  const double correction = use_blocks ? cell_count / (cell_count - 1) : 1;
  double estimate = 0, variance = 0, denominator = 0;
  const auto add = [&](double coefficient, const Moments& part) {
    const double share = coefficient * coefficient * correction * part.variance() / static_cast<double>(part.n);
    estimate += coefficient * part.mean;
    variance += share;
    denominator += share * share / static_cast<double>(part.n - 1);
  };
  add(1, moments(draws));
  for (const auto& [cell, values] : shuffled) {
    if (values.size() < 2) return {};
    add(coefficients.at(&workload.cells[cell]), moments(values));
  }
  if (!(variance > 0)) return {};
  return LinkContrast{t_test_of(estimate, std::sqrt(variance), variance * variance / denominator, 0,
                                Alternative::kTwoSided, 1 - samples.alpha),
                      use_blocks};
}

std::vector<std::vector<double>> complete_draws(const std::vector<CellUnits>& cells, bool* by_link) {
  std::map<uint32_t, std::vector<std::optional<double>>> blocks;
  std::map<uint32_t, uint64_t> link_of;
  for (size_t c = 0; c < cells.size(); ++c) {
    const CellUnits& cell = cells[c];
    if (cell.trial_values.empty() || (!cell.code_fixed && cell.within_unit_df > 0)) return {};
    for (size_t i = 0; i < cell.trial_values.size(); ++i) {
      auto& row = blocks[cell.trial_blocks[i]];
      row.resize(cells.size());
      if (row[c]) return {};
      row[c] = cell.trial_values[i];
      if (!cell.code_fixed || cell.one_layout) continue;
      if (link_of.try_emplace(cell.trial_blocks[i], cell.trial_links[i]).first->second != cell.trial_links[i]) return {};
    }
  }
  *by_link = !link_of.empty();
  std::map<uint64_t, std::pair<std::vector<double>, double>> draws;  // sums and number of blocks
  for (const auto& [block, row] : blocks) {
    auto& [sums, count] = draws[link_of.empty() ? block : link_of[block]];
    sums.resize(cells.size());
    count += 1;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (!row[c]) return {};
      sums[c] += *row[c];
    }
  }
  if (draws.size() < 3) return {};
  std::vector<std::vector<double>> rows;
  for (auto& [key, draw] : draws) {
    for (double& sum : draw.first) sum /= draw.second;
    rows.push_back(std::move(draw.first));
  }
  return rows;
}

}  // namespace stab::analysis
