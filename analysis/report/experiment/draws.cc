// Blocks and links. A block is one pass over the cells: what the machine did to all of it cancels in a combination
// taken within the block. A link is one draw of a layout, wherever it runs: what it adds must count once.
//
// Links that never come back are easy: each block is a draw. So are blocks that each run one link: the combination
// within blocks, averaged by link. The lab's schedule crosses them, so that each cell runs each link equally often, and
// then both effects have to be fitted.
#include "analysis/report/experiment/draws.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/statistics/distributions/satterthwaite.h"
#include "analysis/statistics/models/separate_parts.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/rank_tests.h"

namespace stab::report {
namespace {

bool are_sliced(const CellCoefficients& coefficients) {
  return !coefficients.empty() && coefficients.begin()->first->sliced;
}

// No binary of cells that are run as linked comes back in another block or another cell: then each block's runs of a cell are a
// draw of their own, whichever links the block holds.
class FreshLinks {
 public:
  void add(const CellUnits& cell) {
    if (!cell.code_fixed || cell.one_layout) return;
    for (size_t i = 0; i < cell.trial_layouts.size(); ++i) {
      const std::pair place(&cell, cell.trial_blocks[i]);
      fresh_ &= ran_in_.try_emplace(cell.trial_layouts[i], place).first->second == place;
    }
  }
  bool fresh() const { return fresh_; }

 private:
  std::map<uint64_t, std::pair<const CellUnits*, uint32_t>> ran_in_;
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

std::optional<double> baseline_in_blocks(const CellCoefficients& coefficients, size_t factor, uint32_t baseline) {
  CellCoefficients of_baseline;
  double cells = 0;
  for (const auto& [cell, coefficient] : coefficients) cells += cell->levels[factor] == baseline;
  if (!(cells > 0)) return {};
  for (const auto& [cell, coefficient] : coefficients) of_baseline[cell] = cell->levels[factor] == baseline ? 1 / cells : 0;
  const auto values = block_contrasts(of_baseline);
  if (!values) return {};
  return statistics::mean(*values);
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

// Which level of a factor each row has; some may have none.
struct Levels {
  static constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> of_row;
  size_t count = 0;
};

template <typename Key>
Levels levels_of(const std::vector<LinkFit::Row>& rows, const Key& key) {
  std::map<typename decltype(key(rows[0]))::value_type, size_t> numbers;
  Levels out;
  for (const LinkFit::Row& row : rows) {
    const auto level = key(row);
    out.of_row.push_back(level ? numbers.try_emplace(*level, numbers.size()).first->second : Levels::kNone);
  }
  out.count = numbers.size();
  return out;
}

struct FactorFit {
  std::vector<std::vector<double>> effects;  // by factor and level
  std::vector<double> residuals;
};

// Least squares of several factors' effects. Each in turn becomes the mean of what the others leave; the designs are near
// orthogonal, so this settles fast.
FactorFit fit_factors(std::vector<double> values, const std::vector<const Levels*>& factors) {
  FactorFit out{{}, std::move(values)};
  for (const Levels* factor : factors) out.effects.emplace_back(factor->count);
  for (int round = 0; round < 1000; ++round) {
    double moved = 0;
    for (size_t f = 0; f < factors.size(); ++f) {
      const std::vector<size_t>& of_row = factors[f]->of_row;
      std::vector<double> sums(factors[f]->count), counts(factors[f]->count);
      for (size_t i = 0; i < of_row.size(); ++i) {
        if (of_row[i] == Levels::kNone) continue;
        sums[of_row[i]] += out.residuals[i];
        counts[of_row[i]] += 1;
      }
      for (size_t level = 0; level < sums.size(); ++level) {
        sums[level] /= counts[level];
        moved = std::max(moved, std::fabs(sums[level]));
        out.effects[f][level] += sums[level];
      }
      for (size_t i = 0; i < of_row.size(); ++i)
        if (of_row[i] != Levels::kNone) out.residuals[i] -= sums[of_row[i]];
    }
    if (moved < 1e-13) break;
  }
  return out;
}

size_t rank_of_two(const Levels& first, const Levels& second) {
  return first.count + second.count - statistics::separate_parts(first.of_row, first.count, second.of_row, second.count);
}

// How many cells have something left when these factors, and the cells before, are taken off; at most so many. It takes each
// cell's column of zeros and ones apart.
size_t rank_beyond(const std::vector<const Levels*>& factors, const Levels& cells, size_t most) {
  std::vector<std::vector<double>> left;
  for (size_t cell = 0; cell < cells.count && left.size() < most; ++cell) {
    std::vector<double> column;
    for (const size_t of_row : cells.of_row) column.push_back(of_row == cell ? 1 : 0);
    const double size = std::accumulate(column.begin(), column.end(), 0.0);
    column = fit_factors(std::move(column), factors).residuals;
    for (const std::vector<double>& before : left) {
      const double shared = std::inner_product(column.begin(), column.end(), before.begin(), 0.0);
      for (size_t i = 0; i < column.size(); ++i) column[i] -= shared * before[i];
    }
    const double square = std::inner_product(column.begin(), column.end(), column.begin(), 0.0);
    if (square < 1e-6 * size) continue;
    for (double& value : column) value /= std::sqrt(square);
    left.push_back(std::move(column));
  }
  return left.size();
}

// How many independent numbers the fit has: a mean for each binary and for each cell without links, one for each block, and for
// cells that ran the same binaries their differences. blocks: absent where they were not fitted
size_t rank_of(const std::vector<LinkFit::Row>& rows, const Levels& cells, const Levels* blocks) {
  constexpr size_t kMostNumbers = 1 << 22;  // of all columns: 32 MB
  const Levels means = levels_of(rows, [](const LinkFit::Row& row) {
    return std::optional(std::pair(row.link.has_value(), row.link ? row.layout : uint64_t{row.cell}));
  });
  const size_t differences = rank_of_two(cells, means) - means.count;
  if (!blocks) return means.count + differences;
  // Blocks may hold some of these differences, but hardly where there are so many rows.
  const bool can_look = differences * rows.size() <= kMostNumbers;
  return rank_of_two(means, *blocks) + (can_look ? rank_beyond({&means, blocks}, cells, differences) : differences);
}

}  // namespace

bool is_linked(const CellUnits& cell) { return cell.code_fixed && !cell.one_layout && !cell.trial_links.empty(); }

LinkFit fit_links(const WorkloadUnits& workload) {
  LinkFit fit;
  fit.rows = rows_of(workload);
  const std::vector<LinkFit::Row>& rows = fit.rows;
  const Levels cells = levels_of(rows, [](const LinkFit::Row& row) { return std::optional(row.cell); });
  const Levels blocks = levels_of(rows, [](const LinkFit::Row& row) { return std::optional(row.block); });
  const Levels links =
      levels_of(rows, [](const LinkFit::Row& row) { return row.link ? std::optional(row.layout) : std::nullopt; });
  const auto cell_count = static_cast<double>(workload.cells.size());
  // Blocks that hold few of the cells would take the cells' own differences for theirs.
  fit.blocked = cell_count >= 2 && static_cast<double>(rows.size()) >= 0.75 * cell_count * static_cast<double>(blocks.count);
  // A block's estimated effect holds 1 / cells of each of its own values: residuals are that much too small.
  if (fit.blocked) fit.correction = cell_count / (cell_count - 1);
  std::vector<double> values;
  for (const LinkFit::Row& row : rows) values.push_back(row.value);
  std::vector<const Levels*> factors = {&cells, &links};
  if (fit.blocked) factors.push_back(&blocks);
  const FactorFit fitted = fit_factors(std::move(values), factors);
  double linked = 0, squares = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].link) continue;
    linked += 1;
    squares += fitted.residuals[i] * fitted.residuals[i];
  }
  const size_t rank = rank_of(rows, cells, fit.blocked ? &blocks : nullptr);
  if (linked > 0 && rows.size() > rank) {
    fit.run_df = static_cast<double>(rows.size() - rank) * linked / static_cast<double>(rows.size());
    fit.run_variance = squares / fit.run_df;
  }
  if (fit.blocked)
    for (size_t i = 0; i < fit.rows.size(); ++i) fit.rows[i].value -= fitted.effects[2][blocks.of_row[i]];
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
