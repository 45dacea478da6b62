// Blocks and links. A block is one pass over the cells: what the machine did to all of it cancels in a combination
// taken within the block. A link is one draw of a layout, wherever it runs: what it adds must count once.
//
// Links that never come back are easy: each block is a draw. So are blocks that each run one link: the combination
// within blocks, averaged by link. The lab's schedule crosses them, so that each cell runs each link equally often, and
// then both effects have to be fitted.
#include "analysis/report/draws.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/statistics/descriptive.h"
#include "analysis/statistics/rank_tests.h"
#include "analysis/statistics/satterthwaite.h"

namespace stab::report {
namespace {

bool are_sliced(const CellCoefficients& coefficients) {
  return !coefficients.empty() && coefficients.begin()->first->sliced;
}

// No binary of cells that are run as linked comes back, in the same cell or another: then each trial is a draw of its
// own, whichever links its block holds.
class FreshLinks {
 public:
  void add(const CellUnits& cell) {
    if (!cell.code_fixed || cell.one_layout) return;
    for (uint64_t layout : cell.trial_layouts) fresh_ &= seen_.insert(layout).second;
  }
  bool fresh() const { return fresh_; }

 private:
  std::set<uint64_t> seen_;
  bool fresh_ = true;
};

}  // namespace

std::optional<BlockDraws> block_draws(const CellCoefficients& coefficients) {
  FreshLinks links;
  for (const auto& [cell, coefficient] : coefficients) links.add(*cell);
  struct Block {
    double sum = 0, sizes = 0;
    size_t cells = 0;
    std::optional<uint64_t> link;
  };
  std::map<uint32_t, Block> blocks;
  for (const auto& [cell, coefficient] : coefficients) {
    if (cell->trial_values.empty() || (!cell->code_fixed && cell->spans_blocks)) return {};
    std::map<uint32_t, std::pair<double, double>> runs;  // by block: sum and count of runs and counter passes
    for (size_t i = 0; i < cell->trial_values.size(); ++i) {
      auto& [sum, count] = runs[cell->trial_blocks[i]];
      sum += cell->trial_values[i];
      count += 1;
      if (!cell->code_fixed || cell->one_layout || links.fresh()) continue;
      Block& block = blocks[cell->trial_blocks[i]];
      if (block.link && *block.link != cell->trial_links[i]) return {};
      block.link = cell->trial_links[i];
    }
    for (const auto& [number, run] : runs) {
      const double part = coefficient * run.first / run.second;
      blocks[number].sum += part;
      blocks[number].sizes += std::fabs(part);
      ++blocks[number].cells;
    }
  }
  std::map<std::pair<bool, uint64_t>, std::pair<double, double>> draws;  // by link, else by block: sum, count
  size_t complete = 0;
  BlockDraws out;
  for (const auto& [number, block] : blocks) {
    if (block.cells != coefficients.size()) continue;
    ++complete;
    out.rounding = std::max(out.rounding, statistics::rounding_of(block.sizes, block.cells));
    auto& [sum, count] = draws[{block.link.has_value(), block.link.value_or(number)}];
    sum += block.sum;
    count += 1;
  }
  // Where many blocks lack a cell, what is left may be few. Of sliced blocks nothing else is of any use.
  if (draws.size() < 2 || (2 * complete < blocks.size() && !are_sliced(coefficients))) return {};
  out.left_out = blocks.size() - complete;
  for (const auto& [key, draw] : draws) out.values[key.second] = draw.first / draw.second;
  out.recurring = draws.rbegin()->first.first;
  return out;
}

std::optional<std::vector<double>> block_contrasts(const CellCoefficients& coefficients) {
  const auto draws = block_draws(coefficients);
  if (!draws) return {};
  std::vector<double> values;
  for (const auto& [key, value] : draws->values) values.push_back(value);
  return values;
}

namespace {

// Runs and passes of one cell in one block are one row, averaged.
std::vector<LinkFit::Row> rows_of(const WorkloadUnits& workload) {
  std::vector<LinkFit::Row> rows;
  for (size_t c = 0; c < workload.cells.size(); ++c) {
    const CellUnits& cell = workload.cells[c];
    std::map<uint32_t, std::pair<LinkFit::Row, double>> by_block;
    for (size_t i = 0; i < cell.trial_values.size(); ++i) {
      auto& [row, count] = by_block[cell.trial_blocks[i]];
      row.cell = c;
      row.block = cell.trial_blocks[i];
      if (cell.code_fixed && !cell.one_layout) {
        row.link = cell.trial_links[i];
        row.layout = cell.trial_layouts[i];
      }
      row.value += cell.trial_values[i];
      count += 1;
    }
    for (auto& [block, row] : by_block) {
      row.first.value /= row.second;
      row.first.measured = row.first.value;
      rows.push_back(row.first);
    }
  }
  return rows;
}

// How many independent numbers the fit has: a mean for each binary and for each cell without links, and one for each block, less
// one for each part of the experiment whose blocks share no binary and no such cell with the others'.
double rank_of(const std::vector<LinkFit::Row>& rows, bool blocked) {
  std::map<std::pair<bool, uint64_t>, size_t> means;  // binaries, and cells without
  std::map<uint32_t, size_t> blocks;
  std::vector<size_t> parent;
  const auto node = [&](auto& numbers, const auto& key) {
    const auto [at, is_new] = numbers.try_emplace(key, parent.size());
    if (is_new) parent.push_back(parent.size());
    return at->second;
  };
  const auto root = [&](size_t at) {
    while (parent[at] != at) at = parent[at] = parent[parent[at]];
    return at;
  };
  for (const LinkFit::Row& row : rows) {
    const size_t mean = node(means, std::pair(row.link.has_value(), row.link ? row.layout : uint64_t{row.cell}));
    if (blocked) parent[root(node(blocks, row.block))] = root(mean);
  }
  size_t parts = 0;
  for (size_t at = 0; at < parent.size(); ++at) parts += root(at) == at;
  return static_cast<double>(blocked ? parent.size() - parts : means.size());
}

}  // namespace

bool is_linked(const CellUnits& cell) { return cell.code_fixed && !cell.one_layout && !cell.trial_links.empty(); }

LinkFit fit_links(const WorkloadUnits& workload) {
  LinkFit fit;
  fit.rows = rows_of(workload);
  const std::vector<LinkFit::Row>& rows = fit.rows;
  // Numbers instead of keys, so that a round of fitting is three passes over arrays.
  constexpr size_t kNone = SIZE_MAX;
  std::map<uint32_t, size_t> block_numbers;
  std::map<uint64_t, size_t> link_numbers;
  std::vector<size_t> block_of, link_of;
  for (const LinkFit::Row& row : rows) {
    block_of.push_back(block_numbers.try_emplace(row.block, block_numbers.size()).first->second);
    link_of.push_back(kNone);
    if (row.link)
      link_of.back() = link_numbers.try_emplace(row.layout, link_numbers.size()).first->second;
  }
  std::vector<double> blocks(block_numbers.size()), links(link_numbers.size()), cells(workload.cells.size());
  const auto cell_count = static_cast<double>(workload.cells.size());
  // Blocks that hold few of the cells would take the cells' own differences for theirs.
  fit.blocked = cell_count >= 2 && static_cast<double>(rows.size()) >= 0.75 * cell_count * static_cast<double>(blocks.size());
  // A block's estimated effect holds 1 / cells of each of its own values: residuals are that much too small.
  if (fit.blocked) fit.correction = cell_count / (cell_count - 1);
  // Each effect in turn becomes the mean of what the others leave; the designs are near orthogonal, so this settles
  // fast.
  for (int round = 0; round < 1000; ++round) {
    double moved = 0;
    const auto refit = [&](std::vector<double>& effects, const auto& number_of, const auto& left_by_others) {
      std::vector<double> sums(effects.size()), counts(effects.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        const size_t number = number_of(i);
        if (number == kNone) continue;
        sums[number] += left_by_others(i);
        counts[number] += 1;
      }
      for (size_t e = 0; e < effects.size(); ++e) {
        if (counts[e] == 0) continue;
        moved = std::max(moved, std::fabs(sums[e] / counts[e] - effects[e]));
        effects[e] = sums[e] / counts[e];
      }
    };
    const auto cell_of = [&](size_t i) { return rows[i].cell; };
    const auto link_effect = [&](size_t i) { return link_of[i] == kNone ? 0.0 : links[link_of[i]]; };
    refit(cells, cell_of, [&](size_t i) { return rows[i].value - blocks[block_of[i]] - link_effect(i); });
    refit(links, [&](size_t i) { return link_of[i]; },
          [&](size_t i) { return rows[i].value - blocks[block_of[i]] - cells[rows[i].cell]; });
    if (fit.blocked)
      refit(blocks, [&](size_t i) { return block_of[i]; },
            [&](size_t i) { return rows[i].value - cells[rows[i].cell] - link_effect(i); });
    if (moved < 1e-13) break;
  }
  double linked = 0, squares = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (link_of[i] == kNone) continue;
    const double left = rows[i].value - blocks[block_of[i]] - cells[rows[i].cell] - links[link_of[i]];
    linked += 1;
    squares += left * left;
  }
  const auto all = static_cast<double>(rows.size());
  const double fitted = rank_of(rows, fit.blocked);
  if (linked > 0 && all > fitted) {
    fit.run_df = (all - fitted) * linked / all;
    fit.run_variance = squares / fit.run_df;
  }
  for (size_t i = 0; i < fit.rows.size(); ++i) fit.rows[i].value -= blocks[block_of[i]];
  return fit;
}

std::optional<LinkDraws> link_draws(const LinkFit& fit, const WorkloadUnits& workload, const CellCoefficients& coefficients) {
  size_t linked_cells = 0;
  for (const auto& [cell, coefficient] : coefficients) linked_cells += is_linked(*cell);
  std::map<uint64_t, std::map<size_t, std::pair<double, double>>> of_link;  // link: cell: sum and count
  for (const LinkFit::Row& row : fit.rows) {
    if (!row.link || !coefficients.contains(&workload.cells[row.cell])) continue;
    auto& [sum, count] = of_link[*row.link][row.cell];
    sum += row.value;
    count += 1;
  }
  // A block that ran alone, or that was left out, takes each of its links out of one cell. Of sliced blocks the other links
  // answer: nothing else is of any use.
  if (are_sliced(coefficients)) std::erase_if(of_link, [&](const auto& link) { return link.second.size() != linked_cells; });
  LinkDraws out;
  double of_runs = 0;  // variance of a link's draw by its runs, where theirs is 1: the mean over links
  for (const auto& [link, parts] : of_link) {
    if (parts.size() != linked_cells) return {};
    double& draw = out.values[link];
    for (const auto& [cell, part] : parts) {
      const double coefficient = coefficients.at(&workload.cells[cell]);
      draw += coefficient * part.first / part.second;
      of_runs += coefficient * coefficient / part.second / static_cast<double>(of_link.size());
    }
  }
  if (out.values.size() < 2) return {};
  if (!fit.blocked) return out;
  if (fit.run_df > 0) {
    // Each row's fitted block holds 1 / cells of the row's own noise.
    out.noise = of_runs * fit.run_variance / static_cast<double>(workload.cells.size());
    out.noise_df = fit.run_df;
  } else {
    // All variance may be noise.
    std::vector<double> values;
    for (const auto& [link, value] : out.values) values.push_back(value);
    out.noise = (fit.correction - 1) * statistics::moments(values).variance();
    out.noise_df = static_cast<double>(values.size() - 1);
  }
  return out;
}

std::optional<LinkContrast> link_contrast(const LinkFit& fit, const WorkloadUnits& workload,
                                          const CellCoefficients& coefficients, double alpha) {
  const std::optional<LinkDraws> linked = link_draws(fit, workload, coefficients);
  if (!linked) return {};
  std::vector<double> values;
  for (const auto& [link, value] : linked->values) values.push_back(value);
  const statistics::Moments draws = statistics::moments(values);
  const auto count = static_cast<double>(draws.n);
  double estimate = draws.mean;
  statistics::VarianceSum variance, rest;
  variance.add(draws.variance() / count, count - 1);
  const auto add_own = [&](double own, double df) {
    variance.add(own, df);
    rest.add(own, df);
  };
  if (linked->noise > 0) add_own(linked->noise / count, linked->noise_df);
  std::map<size_t, std::vector<double>> shuffled;  // values by cell
  for (const LinkFit::Row& row : fit.rows)
    if (!row.link && coefficients.contains(&workload.cells[row.cell])) shuffled[row.cell].push_back(row.value);
  for (const auto& [cell, of_cell] : shuffled) {
    if (of_cell.size() < 2) return {};
    const double coefficient = coefficients.at(&workload.cells[cell]);
    const statistics::Moments own = statistics::moments(of_cell);
    estimate += coefficient * own.mean;
    add_own(coefficient * coefficient * fit.correction * own.variance() / static_cast<double>(own.n),
            static_cast<double>(own.n - 1));
  }
  if (!(variance.sum() > 0)) return {};
  const statistics::TTest test =
      statistics::t_test_of(estimate, std::sqrt(variance.sum()), variance.df(), 0, statistics::Alternative::kTwoSided, 1 - alpha);
  LinkContrast out{test, fit.blocked, {}};
  for (const auto& [link, value] : linked->values)
    out.shared.parts[link] = (value - draws.mean) / std::sqrt(count * (count - 1));
  out.shared.df = count - 1;
  out.shared.rest = rest.sum();
  out.shared.rest_df = rest.df();
  return out;
}

std::vector<std::vector<double>> complete_draws(const std::vector<CellUnits>& cells, bool* by_link) {
  FreshLinks links;
  for (const CellUnits& cell : cells) links.add(cell);
  std::map<uint32_t, std::vector<std::optional<double>>> blocks;
  std::map<uint32_t, uint64_t> link_of;
  for (size_t c = 0; c < cells.size(); ++c) {
    const CellUnits& cell = cells[c];
    if (cell.trial_values.empty() || (!cell.code_fixed && cell.spans_blocks)) return {};
    std::map<uint32_t, double> runs;
    for (uint32_t block : cell.trial_blocks) runs[block] += 1;
    for (size_t i = 0; i < cell.trial_values.size(); ++i) {
      auto& row = blocks[cell.trial_blocks[i]];
      row.resize(cells.size());
      row[c] = row[c].value_or(0) + cell.trial_values[i] / runs[cell.trial_blocks[i]];
      if (!cell.code_fixed || cell.one_layout || links.fresh()) continue;
      if (link_of.try_emplace(cell.trial_blocks[i], cell.trial_links[i]).first->second != cell.trial_links[i]) return {};
    }
  }
  *by_link = !link_of.empty();
  std::map<uint64_t, std::pair<std::vector<double>, double>> draws;  // sums and number of blocks
  size_t whole = 0;
  for (const auto& [block, row] : blocks) {
    const bool complete = std::all_of(row.begin(), row.end(), [](const auto& value) { return value.has_value(); });
    if (!complete) continue;
    ++whole;
    auto& [sums, count] = draws[link_of.empty() ? block : link_of[block]];
    sums.resize(cells.size());
    count += 1;
    for (size_t c = 0; c < cells.size(); ++c) sums[c] += *row[c];
  }
  if (draws.size() < 3 || (2 * whole < blocks.size() && !cells[0].sliced)) return {};
  std::vector<std::vector<double>> rows;
  for (auto& [key, draw] : draws) {
    for (double& sum : draw.first) sum /= draw.second;
    rows.push_back(std::move(draw.first));
  }
  return rows;
}

}  // namespace stab::report
