// A term's columns over the cells either add a direction to those before them, or depend on them: then the cells can't
// tell the term apart (Box, Hunter & Hunter, "Statistics for Experimenters", 2nd ed., chapter 6; aliases by regression:
// Box & Draper, "Empirical Model-Building", 1987, section 3.6). That needs no word of how the plan chose its cells.
#include "analysis/statistics/models/effects.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stab::statistics {
namespace {

constexpr int kHighestAlias = 3;  // factors of an alias that is worth naming; effects of more are rarely there

int order_of(TermMask term) { return std::popcount(term); }

// Columns with a two-level factor's sign minus at its first level.
std::vector<Column> signed_columns(const FactorCodes& cells, TermMask term) {
  std::vector<Column> columns = term_columns(cells, term, {});
  if (order_of(term) % 2 == 1)
    for (Column& column : columns)
      for (double& value : column) value = -value;
  return columns;
}

// +1 or -1 where each column of `other` is that many times the same column of `term`; 0 else.
int same_columns(const std::vector<Column>& term, const std::vector<Column>& other) {
  if (term.size() != other.size()) return 0;
  int sign = 0;
  for (size_t c = 0; c < term.size(); ++c) {
    const double square = dot(term[c], term[c]), product = dot(term[c], other[c]);
    if (square == 0 || std::fabs(dot(other[c], other[c]) - square) > 1e-9 * square) return 0;
    if (std::fabs(std::fabs(product) - square) > 1e-9 * square) return 0;
    const int here = product > 0 ? 1 : -1;
    if (sign != 0 && here != sign) return 0;
    sign = here;
  }
  return sign;
}

std::string signed_name(const FactorCodes& cells, TermMask term, int sign) {
  return (sign < 0 ? "-" : "") + term_name(cells, term);
}

bool orthogonal(const std::vector<Column>& some, const std::vector<Column>& others) {
  for (const Column& a : some)
    for (const Column& b : others)
      if (std::fabs(dot(a, b)) > 1e-9 * std::sqrt(dot(a, a) * dot(b, b))) return false;
  return true;
}

// Directions that a term adds to all that don't contain it. columns[i] are those of terms[i].
std::vector<Column> type_two_directions(const std::vector<EstimableTerm>& terms, const std::vector<std::vector<Column>>& columns,
                                        size_t index) {
  constexpr size_t kMostCells = 128;  // of a design without balance: orthogonalizing anew for each term takes seconds beyond
  const Column ones(columns[index][0].size(), 1.0);
  bool alone = orthogonal(columns[index], {ones});
  const auto apart = [&](size_t other) { return (terms[other].term & terms[index].term) != terms[index].term; };
  for (size_t other = 0; alone && other < terms.size(); ++other)
    alone = !apart(other) || orthogonal(columns[index], columns[other]);
  if (!alone && ones.size() > kMostCells) return {};
  Orthogonalizer basis;
  if (!alone) {
    basis.add(ones);
    for (size_t other = 0; other < terms.size(); ++other)
      if (apart(other))
        for (const Column& column : columns[other]) basis.add(column);
  }
  std::vector<Column> directions;
  for (const Column& column : columns[index])
    if (basis.add(column)) directions.push_back(basis.direction(basis.rank() - 1));
  return directions;
}

}  // namespace

Effects effects_of(const FactorCodes& cells, bool directions) {
  Effects effects;
  size_t crossing = 1;
  for (const auto& levels : cells.level_names) crossing *= levels.size();
  effects.crossing = cells.rows() == crossing;
  const std::vector<TermMask> all = crossed_terms((TermMask{1} << cells.names.size()) - 1);
  Orthogonalizer basis;
  basis.add(Column(cells.rows(), 1.0));
  std::vector<TermMask> rest;
  for (TermMask term : all) {
    if (effects.crossing) {
      effects.terms.push_back({term, true, {}, {}});
      continue;
    }
    if (basis.rank() == cells.rows() && order_of(term) > kHighestAlias) break;
    size_t added = 0, columns = 0;
    for (Column& column : signed_columns(cells, term)) {
      ++columns;
      if (basis.rank() < cells.rows()) added += basis.add(std::move(column));
    }
    if (added > 0) effects.terms.push_back({term, added == columns, {}, {}});
    else if (order_of(term) <= kHighestAlias) rest.push_back(term);
  }
  for (TermMask other : rest) {
    bool named = false;
    const std::vector<Column> columns = signed_columns(cells, other);
    for (EstimableTerm& term : effects.terms) {
      const int sign = same_columns(signed_columns(cells, term.term), columns);
      if (sign == 0) continue;
      term.aliases.push_back(signed_name(cells, other, sign));
      named = true;
    }
    if (!named) effects.left_out.push_back(term_name(cells, other));
  }
  if (!directions) return effects;
  std::vector<std::vector<Column>> columns;
  for (const EstimableTerm& term : effects.terms) columns.push_back(signed_columns(cells, term.term));
  for (size_t t = 0; t < effects.terms.size(); ++t) effects.terms[t].directions = type_two_directions(effects.terms, columns, t);
  return effects;
}

namespace {

Column indicator(const FactorCodes& cells, size_t factor, uint32_t level) {
  Column column(cells.rows());
  for (size_t row = 0; row < cells.rows(); ++row) column[row] = cells.codes[factor][row] == level ? 1 : 0;
  return column;
}

// Interactions of two, then of three factors.
std::vector<TermMask> interactions_worth_naming(size_t factors) {
  std::vector<TermMask> terms;
  for (size_t a = 0; a < factors; ++a)
    for (size_t b = a + 1; b < factors; ++b) terms.push_back(TermMask{1} << a | TermMask{1} << b);
  const size_t pairs = terms.size();
  for (size_t pair = 0; pair < pairs; ++pair)
    for (size_t c = 0; c < factors; ++c)
      if (terms[pair] < TermMask{1} << c) terms.push_back(terms[pair] | TermMask{1} << c);
  return terms;
}

// The part of one level's indicator that the other main effects leave; empty where none is left. `without`: factors
// that are not in the model.
Column left_by_others(const FactorCodes& cells, size_t factor, uint32_t level, uint32_t baseline, TermMask without) {
  Orthogonalizer basis;
  basis.add(Column(cells.rows(), 1.0));
  for (size_t f = 0; f < cells.names.size(); ++f) {
    if ((without >> f & 1) != 0) continue;
    for (uint32_t l = 0; l < cells.level_names[f].size(); ++l)
      if (f != factor || (l != level && l != baseline)) basis.add(indicator(cells, f, l));
  }
  // With the baseline's indicator left out the level's coefficient is its difference from the baseline.
  Column left = indicator(cells, factor, level);
  const double before = dot(left, left);
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < basis.rank(); ++i) subtract(left, dot(basis.direction(i), left), basis.direction(i));
  if (dot(left, left) <= 1e-12 * before) return {};
  return left;
}

bool change_together(const FactorCodes& cells, size_t a, size_t b) {
  for (size_t row = 0; row < cells.rows(); ++row)
    for (size_t other = 0; other < row; ++other)
      if ((cells.codes[a][row] == cells.codes[a][other]) != (cells.codes[b][row] == cells.codes[b][other])) return false;
  return true;
}

// Why the other factors leave nothing of the level's indicator.
std::string why_nothing_is_left(const FactorCodes& cells, size_t factor, uint32_t level, uint32_t baseline) {
  const auto text = [&](TermMask others) {
    std::string names;
    for (size_t f = 0; f < cells.names.size(); ++f)
      if ((others >> f & 1) != 0) names += (names.empty() ? "" : ", ") + cells.names[f];
    return "the cells can't tell " + cells.names[factor] + " from " + names + ": they change together";
  };
  TermMask together = 0;
  for (size_t f = 0; f < cells.names.size(); ++f) {
    if (f == factor) continue;
    if (!left_by_others(cells, factor, level, baseline, TermMask{1} << f).empty()) return text(TermMask{1} << f);
    if (change_together(cells, factor, f)) together |= TermMask{1} << f;
  }
  if (together != 0 && !left_by_others(cells, factor, level, baseline, together).empty()) return text(together);
  return "no cell holds both levels with the other factors equal";
}

}  // namespace

Result<MainEffect> main_effect(const FactorCodes& cells, size_t factor, uint32_t level, uint32_t baseline) {
  for (uint32_t side : {level, baseline})
    if (dot(indicator(cells, factor, side), indicator(cells, factor, side)) == 0)
      return bad_input("no cell with " + cells.names[factor] + "=" + cells.level_names[factor][side] + " has values");
  const Column left = left_by_others(cells, factor, level, baseline, 0);
  if (left.empty()) return bad_input(why_nothing_is_left(cells, factor, level, baseline));
  MainEffect effect;
  const double square = dot(left, left);
  for (double value : left) effect.weights.push_back(value / square);
  for (TermMask term : interactions_worth_naming(cells.names.size())) {
    const std::vector<Column> columns = signed_columns(cells, term);
    // A difference of two levels is twice the effect in signs.
    double largest = 0;
    for (const Column& column : columns) {
      const double share = dot(effect.weights, column) / 2;
      if (std::fabs(share) > std::fabs(largest)) largest = share;
    }
    if (std::fabs(largest) < 1e-9) continue;
    const bool whole = columns.size() == 1 && std::fabs(std::fabs(largest) - 1) < 1e-9;
    effect.aliases.push_back(whole ? signed_name(cells, term, largest > 0 ? 1 : -1) : "part of " + term_name(cells, term));
  }
  return effect;
}

}  // namespace stab::statistics
