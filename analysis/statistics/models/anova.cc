// Factorial analysis of variance from cell moments. A million rows in 160 cells are 160 weighted rows: each
// cell's mean with weight n, while the squares within cells go straight to the residuals. Weighted this way the
// sums of squares are those of the full data.
//
// The strata of repeated measures are in strata.cc, the columns in linear_model.cc.
#include "analysis/statistics/models/anova.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::statistics {
namespace {

struct Fit {
  std::vector<double> sum_squares;  // one for each term
  std::vector<double> df;
  double residual_squares = 0;      // between cells, beyond the model
  double residual_df = 0;
};

// Which terms precede `term` when its sum of squares is taken.
bool precedes(TermMask other, size_t other_index, TermMask term, size_t index, SumsType type) {
  if (type == SumsType::kOne) return other_index < index;
  if (type == SumsType::kTwo) return (other & term) != term;  // all that don't contain it
  return true;
}

Error aliased(const CellTable& table, TermMask term) {
  const FactorCodes& factors = table.factors;
  const std::string name = term_name(factors, term);
  // Name an empty combination of the term's levels, if that is the reason.
  std::vector<size_t> members;
  for (size_t f = 0; f < factors.names.size(); ++f)
    if (term >> f & 1) members.push_back(f);
  std::map<std::vector<uint32_t>, bool> seen;
  for (size_t row = 0; row < factors.rows(); ++row) {
    std::vector<uint32_t> key;
    for (size_t f : members) key.push_back(factors.codes[f][row]);
    seen[key] = true;
  }
  std::vector<uint32_t> at(members.size(), 0);
  while (true) {
    if (!seen.contains(at)) {
      std::string cell;
      for (size_t i = 0; i < members.size(); ++i)
        cell += (i ? ", " : "") + factors.names[members[i]] + "=" + factors.level_names[members[i]][at[i]];
      return bad_input("cell " + cell + " has no values, so " + name +
                       " can't be estimated; fill the cell, drop a level, or leave out the interaction");
    }
    size_t i = members.size();
    while (i > 0 && ++at[i - 1] == factors.level_names[members[i - 1]].size()) at[--i] = 0;
    if (i == 0) break;
  }
  return bad_input(name + " can't be told apart from the other terms: its factors are collinear; drop one");
}

// Columns are made only where they can be told apart and fitted in reasonable time.
Status check_size(const CellTable& table, std::span<const TermMask> terms, SumsType type, Dependent dependent) {
  const auto rows = static_cast<double>(table.cells.size());
  double columns = 1;
  for (TermMask term : terms) {
    columns += column_count(table.factors, term);
    if (columns > rows && dependent == Dependent::kRefuse) return aliased(table, term);
  }
  // Each column is taken off all those before it; types II and III do so again for each term.
  constexpr double kMostNumbers = 4e7, kMostWorkOnce = 4e10, kMostRepeatedWork = 4e9;
  const bool repeated = type != SumsType::kOne && terms.size() > 1;
  const double work = rows * columns * columns * (repeated ? static_cast<double>(terms.size()) : 1);
  if (rows * columns <= kMostNumbers && work <= (repeated ? kMostRepeatedWork : kMostWorkOnce)) return {};
  return bad_input("a model of " + std::to_string(static_cast<uint64_t>(columns)) + " columns for " +
                   std::to_string(table.cells.size()) + " cells is too large (columns times cells up to 40000000" +
                   (repeated ? ", and fewer for sums of type II and III with many terms" : "") +
                   "); leave out a factor with many levels or an interaction" + (repeated ? ", or take --type 1" : ""));
}

Result<Fit> fit(const CellTable& table, std::span<const TermMask> terms, SumsType type, Dependent dependent) {
  STAB_CHECK_OK(check_size(table, terms, type, dependent));
  const size_t rows = table.cells.size();
  Column weight(rows), y(rows);
  double total_weight = 0, total = 0;
  for (size_t row = 0; row < rows; ++row) {
    total_weight += static_cast<double>(table.cells[row].n);
    total += static_cast<double>(table.cells[row].n) * table.cells[row].mean;
  }
  for (size_t row = 0; row < rows; ++row) {
    weight[row] = std::sqrt(static_cast<double>(table.cells[row].n));
    y[row] = weight[row] * (table.cells[row].mean - total / total_weight);
  }
  std::vector<std::vector<Column>> columns;
  for (TermMask term : terms) columns.push_back(term_columns(table.factors, term, weight));

  Fit result;
  result.sum_squares.resize(terms.size());
  result.df.resize(terms.size());
  // Sequential pass: gives type I, and the residual for every type.
  {
    Orthogonalizer basis;
    basis.add(weight);
    subtract(y, dot(basis.direction(0), y), basis.direction(0));
    Column rest = y;
    for (size_t t = 0; t < terms.size(); ++t) {
      for (const Column& column : columns[t]) {
        if (basis.rank() == rows || !basis.add(column)) {
          if (dependent == Dependent::kLeaveOut) continue;
          return aliased(table, terms[t]);
        }
        const Column& direction = basis.direction(basis.rank() - 1);
        const double effect = dot(direction, rest);
        subtract(rest, effect, direction);
        result.sum_squares[t] += effect * effect;
        result.df[t] += 1;
      }
    }
    result.residual_df = static_cast<double>(rows - basis.rank());
    result.residual_squares = result.residual_df > 0 ? dot(rest, rest) : 0;
  }
  const bool balanced = std::all_of(table.cells.begin(), table.cells.end(), [&](const Moments& cell) {
    return cell.n == table.cells[0].n;
  });
  size_t full = 1;
  for (const auto& levels : table.factors.level_names) full *= levels.size();
  if (type == SumsType::kOne || (balanced && rows == full)) return result;  // orthogonal: order is immaterial
  for (size_t t = 0; t < terms.size(); ++t) {
    Orthogonalizer basis;
    basis.add(weight);
    for (size_t other = 0; other < terms.size(); ++other)
      if (other != t && precedes(terms[other], other, terms[t], t, type))
        for (const Column& column : columns[other]) basis.add(column);
    Column rest = y;
    for (size_t i = 0; i < basis.rank(); ++i) subtract(rest, dot(basis.direction(i), rest), basis.direction(i));
    result.sum_squares[t] = 0;
    result.df[t] = 0;
    for (const Column& column : columns[t]) {
      if (!basis.add(column)) {
        if (dependent == Dependent::kLeaveOut) continue;
        return aliased(table, terms[t]);
      }
      result.df[t] += 1;
      const double effect = dot(basis.direction(basis.rank() - 1), rest);
      result.sum_squares[t] += effect * effect;
    }
  }
  return result;
}

Status check_levels(const FactorCodes& factors, std::span<const TermMask> terms) {
  for (size_t f = 0; f < factors.names.size(); ++f) {
    const bool used = std::any_of(terms.begin(), terms.end(), [f](TermMask term) { return term >> f & 1; });
    if (used && factors.level_names[f].size() < 2)
      return bad_input("factor '" + factors.names[f] + "' has one level; a comparison needs two, leave it out");
  }
  return {};
}

// One row for each term that was fitted; `complete` adds what is tested against what.
std::vector<AnovaRow> rows_of(const FactorCodes& factors, std::span<const TermMask> terms, const Fit& fit) {
  std::vector<AnovaRow> rows;
  for (size_t t = 0; t < terms.size(); ++t) {
    AnovaRow row;
    row.term = term_name(factors, terms[t]);
    row.df = fit.df[t];
    row.sum_squares = fit.sum_squares[t];
    rows.push_back(std::move(row));
  }
  return rows;
}

// Fills in what follows from sums of squares and df. rounding: what rounding alone may leave in the residuals' squares.
Result<std::vector<AnovaRow>> complete(std::vector<AnovaRow> rows, AnovaRow residuals, double n, double rounding) {
  if (residuals.df <= 0)
    return bad_input("no degrees of freedom are left for the residuals: one value a cell; add replicates or "
                     "leave out the highest interaction");
  double total = residuals.sum_squares;
  for (const AnovaRow& row : rows) total += row.sum_squares;
  if (residuals.sum_squares <= rounding) return no_spread("residuals");
  residuals.mean_square = residuals.sum_squares / residuals.df;
  for (AnovaRow& row : rows) {
    if (row.df == 0) continue;  // nothing is left of it beyond the terms that don't contain it
    row.mean_square = row.sum_squares / row.df;
    row.f = row.mean_square / residuals.mean_square;
    row.p_value = f_upper(*row.f, row.df, residuals.df);
    row.eta_squared = row.sum_squares / total;
    row.partial_eta_squared = row.sum_squares / (row.sum_squares + residuals.sum_squares);
    // Olejnik & Algina (2003), eq. 7.
    const double excess = row.df * (*row.f - 1);
    row.partial_omega_squared = excess / (excess + n);
  }
  rows.push_back(std::move(residuals));
  return rows;
}

// A key for each row where the combinations of levels outnumber a word: those that occur are numbered anew before it
// would overflow.
std::vector<uint64_t> renumbered_keys(const FactorCodes& factors, size_t rows) {
  std::vector<uint64_t> keys(rows, 0);
  double range = 1;
  for (size_t f = 0; f < factors.codes.size(); ++f) {
    const uint64_t levels = factors.level_names[f].size();
    if (range * static_cast<double>(levels) > 0x1p62) {
      std::unordered_map<uint64_t, uint64_t> numbers;
      for (uint64_t& key : keys) key = numbers.try_emplace(key, numbers.size()).first->second;
      range = static_cast<double>(numbers.size());
    }
    for (size_t row = 0; row < rows; ++row) keys[row] = keys[row] * levels + factors.codes[f][row];
    range *= static_cast<double>(levels);
  }
  return keys;
}

}  // namespace

CellTable aggregate(const FactorCodes& factors, std::span<const double> values) {
  // Each row's cell: a mixed-radix key, renumbered in order of appearance.
  constexpr uint64_t kDense = 1 << 20;  // up to here a plain array finds the cell, beyond it a hash table
  constexpr uint32_t kUnseen = UINT32_MAX;
  double combinations = 1;
  for (const auto& levels : factors.level_names) combinations *= static_cast<double>(levels.size());
  const std::vector<uint64_t> wide_keys =
      combinations > 0x1p63 ? renumbered_keys(factors, values.size()) : std::vector<uint64_t>();
  std::vector<uint32_t> dense(combinations <= kDense ? static_cast<size_t>(combinations) : 0, kUnseen);
  std::unordered_map<uint64_t, uint32_t> sparse;
  std::vector<uint32_t> cell_of(values.size());
  std::vector<size_t> first_row;
  for (size_t row = 0; row < values.size(); ++row) {
    uint64_t key = wide_keys.empty() ? 0 : wide_keys[row];
    for (size_t f = 0; wide_keys.empty() && f < factors.codes.size(); ++f)
      key = key * factors.level_names[f].size() + factors.codes[f][row];
    uint32_t& cell = dense.empty() ? sparse.try_emplace(key, kUnseen).first->second : dense[key];
    if (cell == kUnseen) {
      cell = static_cast<uint32_t>(first_row.size());
      first_row.push_back(row);
    }
    cell_of[row] = cell;
  }
  // moments() of each cell, all cells in two passes over the rows.
  struct Sums {
    uint64_t n = 0;
    double origin = 0;
    long double sum = 0, m2 = 0, rest = 0;
  };
  std::vector<Sums> sums(first_row.size());
  for (size_t cell = 0; cell < sums.size(); ++cell) sums[cell].origin = values[first_row[cell]];
  for (size_t row = 0; row < values.size(); ++row) {
    Sums& cell = sums[cell_of[row]];
    ++cell.n;
    cell.sum += static_cast<long double>(values[row]) - cell.origin;
  }
  for (Sums& cell : sums) cell.sum /= static_cast<long double>(cell.n);
  for (size_t row = 0; row < values.size(); ++row) {
    Sums& cell = sums[cell_of[row]];
    const long double deviation = static_cast<long double>(values[row]) - cell.origin - cell.sum;
    cell.m2 += deviation * deviation;
    cell.rest += deviation;
  }
  CellTable table;
  table.factors.names = factors.names;
  table.factors.level_names = factors.level_names;
  table.factors.codes.resize(factors.codes.size());
  for (size_t cell = 0; cell < sums.size(); ++cell) {
    const Sums& of = sums[cell];
    const long double m2 = of.m2 - of.rest * of.rest / static_cast<long double>(of.n);
    table.cells.push_back({of.n, static_cast<double>(of.origin + of.sum), static_cast<double>(std::max(m2, 0.0L))});
    for (size_t f = 0; f < factors.codes.size(); ++f)
      table.factors.codes[f].push_back(factors.codes[f][first_row[cell]]);
  }
  return table;
}

Result<std::vector<AnovaRow>> factorial_anova(const CellTable& table, std::span<const TermMask> terms,
                                              SumsType type, Dependent dependent) {
  if (table.cells.empty()) return bad_input("no values to analyse");
  STAB_CHECK_OK(check_levels(table.factors, terms));
  STAB_TRY(const Fit result, fit(table, terms, type, dependent));
  double n = 0, within = 0;
  for (const Moments& cell : table.cells) {
    n += static_cast<double>(cell.n);
    within += cell.m2;
  }
  std::vector<AnovaRow> rows = rows_of(table.factors, terms, result);
  AnovaRow residuals;
  residuals.term = "residuals";
  residuals.df = n - static_cast<double>(table.cells.size()) + result.residual_df;
  residuals.sum_squares = within + result.residual_squares;
  // Squares within cells are exact; those between cells that the model doesn't take come from a fit.
  double largest = 0;
  for (const AnovaRow& row : rows) largest = std::max(largest, row.sum_squares);
  return complete(std::move(rows), std::move(residuals), n, within > 0 ? 0 : 1e-28 * largest);
}

Result<std::vector<AnovaRow>> blocked_anova(const FactorCodes& factors, std::span<const double> values,
                                            std::span<const uint32_t> block, std::span<const TermMask> terms,
                                            SumsType type, Dependent dependent, double resolution) {
  const CellTable table = aggregate(factors, values);
  std::map<uint32_t, std::vector<double>> blocks;
  for (size_t row = 0; row < values.size(); ++row) blocks[block[row]].push_back(values[row]);
  // Complete: every (block, cell) pair has the same count, so blocks are orthogonal to the cells.
  FactorCodes with_block = factors;
  with_block.names.push_back("block");
  with_block.level_names.emplace_back();
  with_block.codes.emplace_back();
  std::map<uint32_t, uint32_t> block_code;
  for (const auto& [key, of_block] : blocks) {
    block_code.emplace(key, static_cast<uint32_t>(block_code.size()));
    with_block.level_names.back().push_back(std::to_string(key));
  }
  for (uint32_t key : block) with_block.codes.back().push_back(block_code[key]);
  const CellTable fine = aggregate(with_block, values);
  const bool complete_blocks =
      fine.cells.size() == blocks.size() * table.cells.size() &&
      std::all_of(fine.cells.begin(), fine.cells.end(),
                  [&](const Moments& cell) { return cell.n == fine.cells[0].n; });
  if (blocks.size() < 2) return factorial_anova(table, terms, type, dependent);
  if (!complete_blocks) {
    std::vector<TermMask> all{TermMask{1} << factors.names.size()};
    all.insert(all.end(), terms.begin(), terms.end());
    STAB_TRY(auto rows, factorial_anova(fine, all, type, dependent));
    std::rotate(rows.begin(), rows.begin() + 1, rows.end() - 1);  // block last, before the residuals
    return rows;
  }
  STAB_CHECK_OK(check_levels(table.factors, terms));
  STAB_TRY(const Fit result, fit(table, terms, type, dependent));
  const Moments all = moments(values);
  AnovaRow block_row;
  block_row.term = "block";
  block_row.df = static_cast<double>(blocks.size() - 1);
  for (const auto& [key, of_block] : blocks) {
    const double deviation = mean(of_block) - all.mean;
    block_row.sum_squares += static_cast<double>(of_block.size()) * deviation * deviation;
  }
  std::vector<AnovaRow> rows = rows_of(table.factors, terms, result);
  AnovaRow residuals;
  residuals.term = "residuals";
  residuals.df = static_cast<double>(all.n) - static_cast<double>(table.cells.size()) + result.residual_df -
                 block_row.df;
  double within = 0;
  for (const Moments& cell : table.cells) within += cell.m2;
  residuals.sum_squares = std::max(0.0, within + result.residual_squares - block_row.sum_squares);
  // A difference of sums of squares has lost its digits where blocks lie far apart. There it is what is left of cells once
  // blocks are taken off; elsewhere reports keep the digits that they have always had.
  constexpr double kKeepsTenDigits = 1e-6;
  if (residuals.sum_squares < kKeepsTenDigits * within) {
    std::vector<double> off_blocks(values.begin(), values.end());
    std::map<uint32_t, double> means;
    for (const auto& [key, of_block] : blocks) means[key] = mean(of_block);
    for (size_t row = 0; row < values.size(); ++row) off_blocks[row] -= means[block[row]];
    residuals.sum_squares = result.residual_squares;
    for (const Moments& cell : aggregate(factors, off_blocks).cells) residuals.sum_squares += cell.m2;
  }
  rows.push_back(std::move(block_row));
  return complete(std::move(rows), std::move(residuals), static_cast<double>(all.n),
                  static_cast<double>(all.n) * resolution * resolution);
}

Result<OneWay> welch_anova(std::span<const Moments> groups) {
  if (groups.size() < 2) return bad_input("one-way needs at least 2 groups, got " + std::to_string(groups.size()));
  double sum_weight = 0, weighted = 0;
  for (const Moments& group : groups) {
    if (group.n < 2)
      return bad_input("welch needs at least 2 values in each group, got " + std::to_string(group.n));
    if (group.m2 <= 0) return bad_input("a group is constant, or varies by less than 1e-154: its weight would be infinite");
    const double weight = static_cast<double>(group.n) / group.variance();
    sum_weight += weight;
    weighted += weight * group.mean;
  }
  const double centre = weighted / sum_weight;
  const auto k = static_cast<double>(groups.size());
  double between = 0, lambda = 0;
  for (const Moments& group : groups) {
    const double weight = static_cast<double>(group.n) / group.variance();
    between += weight * (group.mean - centre) * (group.mean - centre);
    const double part = 1 - weight / sum_weight;
    lambda += part * part / static_cast<double>(group.n - 1);
  }
  lambda /= k * k - 1;
  OneWay result;
  // Welch (1951), eq. 8 and 9.
  result.f = between / (k - 1) / (1 + 2 * (k - 2) * lambda);
  result.df1 = k - 1;
  result.df2 = 1 / (3 * lambda);
  result.p_value = f_upper(result.f, result.df1, result.df2);
  return result;
}

}  // namespace stab::statistics
