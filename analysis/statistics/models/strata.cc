// Error strata. A stratum is a subspace of the data: the differences between blocks, or those between subjects'
// responses to a treatment. Data and effects are projected on it and an ordinary analysis of variance is done
// there, so that "does it hold for programs like these" is tested against how programs differ.
//
// within_anova() is the same for complete repeated measures, by orthonormal contrasts of each subject's cells,
// which also give the covariances that the sphericity corrections need.
#include "analysis/statistics/models/strata.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/rank_tests.h"

namespace stab::statistics {
namespace {

// y and the term columns, seen from one stratum.
struct Projection {
  std::string name;
  Column y;
  std::vector<std::vector<Column>> columns;
  double df = 0;
};

Stratum analyse_stratum(const FactorCodes& factors, std::span<const TermMask> terms, const Projection& part,
                        double n) {
  Stratum stratum;
  stratum.name = part.name;
  Orthogonalizer basis;
  Column rest = part.y;
  for (size_t t = 0; t < terms.size(); ++t) {
    AnovaRow row;
    row.term = term_name(factors, terms[t]);
    for (const Column& column : part.columns[t]) {
      if (column.empty() || !basis.add(column)) continue;  // empty: the term isn't in this stratum
      const Column& direction = basis.direction(basis.rank() - 1);
      const double effect = dot(direction, rest);
      subtract(rest, effect, direction);
      row.sum_squares += effect * effect;
      row.df += 1;
    }
    if (row.df == 0) continue;
    row.mean_square = row.sum_squares / row.df;
    stratum.rows.push_back(std::move(row));
  }
  AnovaRow residuals;
  residuals.term = "residuals";
  residuals.df = part.df - static_cast<double>(basis.rank());
  if (residuals.df <= 0) return stratum;
  residuals.sum_squares = dot(rest, rest);
  residuals.mean_square = residuals.sum_squares / residuals.df;
  const double total = dot(part.y, part.y);
  if (residuals.sum_squares > 1e-24 * total) {
    for (AnovaRow& row : stratum.rows) {
      row.f = row.mean_square / residuals.mean_square;
      row.p_value = f_upper(*row.f, row.df, residuals.df);
      row.partial_eta_squared = row.sum_squares / (row.sum_squares + residuals.sum_squares);
      const double excess = row.df * (*row.f - 1);
      row.partial_omega_squared = excess / (excess + n);
    }
  }
  stratum.rows.push_back(std::move(residuals));
  return stratum;
}

// A column of a term is there or not: less than this of its squares is rounding.
double nothing_of(const Column& column) {
  constexpr double kTolerance = 1e-7;
  return kTolerance * kTolerance * dot(column, column);
}

// Projects x on the directions [first, end) of basis, as coordinates; empty where their squares are at most `nothing`.
Column coordinates(const Orthogonalizer& basis, size_t first, size_t end, const Column& x, double nothing) {
  Column out(end - first);
  for (size_t i = first; i < end; ++i) out[i - first] = dot(basis.direction(i), x);
  if (dot(out, out) <= nothing) return {};
  return out;
}

// One column for each combination of the term's levels that occurs: Error(id / a) means all differences between
// the combinations of id and a that id alone doesn't explain, a's main effect included.
std::vector<Column> cell_indicators(const FactorCodes& factors, TermMask term) {
  std::map<std::vector<uint32_t>, size_t> index;
  std::vector<Column> columns;
  for (size_t row = 0; row < factors.rows(); ++row) {
    std::vector<uint32_t> key;
    for (size_t f = 0; f < factors.names.size(); ++f)
      if (term >> f & 1) key.push_back(factors.codes[f][row]);
    const auto [it, fresh] = index.try_emplace(std::move(key), columns.size());
    if (fresh) columns.emplace_back(factors.rows(), 0.0);
    columns[it->second][row] = 1;
  }
  return columns;
}

}  // namespace

Result<std::vector<Stratum>> strata_anova(const FactorCodes& factors, std::span<const double> values,
                                          std::span<const TermMask> terms,
                                          std::span<const TermMask> error_terms) {
  const size_t n = values.size();
  if (n < 2) return bad_input("an analysis with error strata needs at least 2 rows");
  for (size_t f = 0; f < factors.names.size(); ++f)
    if (factors.level_names[f].size() < 2)
      return bad_input("factor '" + factors.names[f] + "' has one level; a comparison needs two, leave it out");
  const Moments all = moments(values);
  if (constant(values)) return bad_input("all values are equal: there is nothing to test");
  STAB_CHECK_OK(check_squares(values));
  Column y(values.begin(), values.end());
  for (double& value : y) value -= all.mean;
  // Blocks may lie apart by far more than values within them: of the data only what rounding may leave is nothing.
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  const double rounding = rounding_of(largest, 1), no_data = static_cast<double>(n) * rounding * rounding;

  std::vector<std::vector<Column>> columns;
  for (TermMask term : terms) columns.push_back(term_columns(factors, term, {}));

  Orthogonalizer basis;
  basis.add(Column(n, 1.0));
  std::vector<Stratum> strata;
  for (TermMask error : error_terms) {
    const size_t first = basis.rank();
    for (Column& column : cell_indicators(factors, error)) basis.add(std::move(column));
    if (basis.rank() == first) continue;
    Projection part;
    part.name = term_name(factors, error);
    part.df = static_cast<double>(basis.rank() - first);
    part.y = coordinates(basis, first, basis.rank(), y, no_data);
    if (part.y.empty()) part.y.assign(basis.rank() - first, 0.0);
    for (const auto& term : columns) {
      part.columns.emplace_back();
      for (const Column& column : term)
        part.columns.back().push_back(coordinates(basis, first, basis.rank(), column, nothing_of(column)));
    }
    strata.push_back(analyse_stratum(factors, terms, part, static_cast<double>(n)));
  }
  // What is left: everything minus its projection on the strata so far.
  Projection within;
  within.name = "within";
  within.df = static_cast<double>(n - basis.rank());
  if (within.df > 0) {
    const auto remove = [&](Column x, double nothing) -> Column {
      for (int pass = 0; pass < 2; ++pass)
        for (size_t i = 0; i < basis.rank(); ++i) subtract(x, dot(basis.direction(i), x), basis.direction(i));
      if (dot(x, x) <= nothing) return {};
      return x;
    };
    within.y = remove(y, no_data);
    if (within.y.empty()) within.y.assign(n, 0.0);
    for (const auto& term : columns) {
      within.columns.emplace_back();
      for (const Column& column : term) within.columns.back().push_back(remove(column, nothing_of(column)));
    }
    strata.push_back(analyse_stratum(factors, terms, within, static_cast<double>(n)));
  }
  return strata;
}

namespace {

// Orthonormal Helmert contrasts of `levels` values: levels - 1 rows.
std::vector<Column> helmert(size_t levels) {
  std::vector<Column> rows;
  for (size_t k = 1; k < levels; ++k) {
    Column row(levels, 0.0);
    const double scale = 1 / std::sqrt(static_cast<double>(k * (k + 1)));
    for (size_t i = 0; i < k; ++i) row[i] = scale;
    row[k] = -static_cast<double>(k) * scale;
    rows.push_back(std::move(row));
  }
  return rows;
}

// Kronecker product of contrasts (factors in the term) and normalized means (the others).
std::vector<Column> effect_contrasts(const std::vector<size_t>& level_counts, TermMask term) {
  std::vector<Column> product{{1.0}};
  for (size_t f = 0; f < level_counts.size(); ++f) {
    const std::vector<Column> part =
        term >> f & 1 ? helmert(level_counts[f])
                      : std::vector<Column>{Column(level_counts[f], 1 / std::sqrt(static_cast<double>(level_counts[f])))};
    std::vector<Column> next;
    for (const Column& left : product) {
      for (const Column& right : part) {
        Column row;
        row.reserve(left.size() * right.size());
        for (double l : left)
          for (double r : right) row.push_back(l * r);
        next.push_back(std::move(row));
      }
    }
    product = std::move(next);
  }
  return product;
}

// Natural log of the determinant of a symmetric positive definite matrix, by Cholesky; absent if it isn't.
std::optional<double> log_determinant(std::vector<Column> a) {
  double log_det = 0;
  const size_t k = a.size();
  for (size_t j = 0; j < k; ++j) {
    for (size_t i = 0; i < j; ++i) a[j][j] -= a[j][i] * a[j][i];
    if (a[j][j] <= 0) return std::nullopt;
    a[j][j] = std::sqrt(a[j][j]);
    log_det += 2 * std::log(a[j][j]);
    for (size_t row = j + 1; row < k; ++row) {
      for (size_t i = 0; i < j; ++i) a[row][j] -= a[row][i] * a[j][i];
      a[row][j] /= a[j][j];
    }
  }
  return log_det;
}

// Mauchly (1940) with Anderson's (2003, 10.7.4) second-order chi-squared approximation, as R's mauchly.test.
void mauchly(WithinRow& row, const std::vector<Column>& covariance, double trace, double df) {
  const auto p = static_cast<double>(covariance.size());
  if (p < 2 || df < p) return;
  const auto log_det = log_determinant(covariance);
  if (!log_det) return;
  const double log_w = *log_det - p * std::log(trace / p);
  const double rho = 1 - (2 * p * p + p + 2) / (6 * p * df);
  const double w2 = (p + 2) * (p - 1) * (p - 2) * (2 * p * p * p + 6 * p * p + 3 * p + 2) /
                    (288 * std::pow(df * p * rho, 2));
  const double z = -df * rho * log_w;
  const double f = p * (p + 1) / 2 - 1;
  const double p1 = chi_squared_upper(std::max(z, 0.0), f), p2 = chi_squared_upper(std::max(z, 0.0), f + 4);
  row.mauchly_w = std::exp(log_w);
  row.mauchly_p = std::clamp(p1 + w2 * (p2 - p1), 0.0, 1.0);
}

// One effect, as orthonormal contrasts of the cells.
Result<WithinRow> within_row(const std::string& term, const std::vector<Column>& contrasts,
                             const std::vector<std::vector<double>>& values) {
  const size_t subjects = values.size();
  const size_t k = contrasts.size();
  std::vector<Column> z(k, Column(subjects));
  Column around;
  for (size_t s = 0; s < subjects; ++s) {
    // A contrast's weights add up to 0 but for rounding: without what a subject has in all cells it keeps its digits.
    around = values[s];
    const double level = mean(around);
    for (double& value : around) value -= level;
    for (size_t c = 0; c < k; ++c) z[c][s] = dot(contrasts[c], around);
  }
  WithinRow row;
  row.anova.term = term;
  row.anova.df = static_cast<double>(k);
  std::vector<Column> covariance(k, Column(k));
  const double df = static_cast<double>(subjects - 1);
  for (Column& contrast : z) {
    const double centre = mean(contrast);
    row.anova.sum_squares += static_cast<double>(subjects) * centre * centre;
    for (double& value : contrast) value -= centre;
  }
  double trace = 0;
  for (size_t i = 0; i < k; ++i) {
    for (size_t j = 0; j < k; ++j) covariance[i][j] = dot(z[i], z[j]) / df;
    trace += covariance[i][i];
  }
  row.error_df = static_cast<double>(k) * df;
  row.error_sum_squares = trace * df;
  row.anova.mean_square = row.anova.sum_squares / row.anova.df;
  const double error_mean_square = row.error_sum_squares / row.error_df;
  if (row.error_sum_squares <= 1e-28 * (row.anova.sum_squares + row.error_sum_squares) ||
      row.error_sum_squares < std::numeric_limits<double>::min())
    return bad_input("subjects don't differ in their response to " + row.anova.term +
                     ": without that spread there is nothing to test against");
  row.anova.f = row.anova.mean_square / error_mean_square;
  row.anova.p_value = f_upper(*row.anova.f, row.anova.df, row.error_df);
  row.anova.partial_eta_squared = row.anova.sum_squares / (row.anova.sum_squares + row.error_sum_squares);
  const double excess = row.anova.df * (*row.anova.f - 1);
  row.anova.partial_omega_squared =
      excess / (excess + static_cast<double>(subjects) * (static_cast<double>(k) + 1));
  if (k > 1) {
    // Greenhouse & Geisser (1959), eq. 10; Huynh & Feldt (1976), eq. 3.
    const auto p = static_cast<double>(k);
    // Scaled by a power of two: fourth powers of the values neither overflow nor underflow, and no digit changes.
    const int unit = -std::ilogb(trace);
    double squares = 0;
    for (const Column& line : covariance)
      for (const double value : line) squares += std::ldexp(value, unit) * std::ldexp(value, unit);
    row.greenhouse_geisser = std::ldexp(trace, unit) * std::ldexp(trace, unit) / (p * squares);
    row.huynh_feldt = ((df + 1) * p * row.greenhouse_geisser - 2) / (p * (df - p * row.greenhouse_geisser));
    if (!std::isfinite(row.huynh_feldt) || row.huynh_feldt < 0) row.huynh_feldt = 1;
  }
  const auto corrected = [&](double epsilon) {
    const double factor = std::min(epsilon, 1.0);
    return f_upper(*row.anova.f, row.anova.df * factor, row.error_df * factor);
  };
  row.p_greenhouse_geisser = corrected(row.greenhouse_geisser);
  row.p_huynh_feldt = corrected(row.huynh_feldt);
  mauchly(row, covariance, trace, df);
  return row;
}

}  // namespace

Result<std::vector<WithinRow>> within_anova(const std::vector<std::vector<double>>& values,
                                            const std::vector<std::string>& names,
                                            const std::vector<size_t>& level_counts) {
  if (values.size() < 2) return bad_input("a within-subjects analysis needs at least 2 subjects");
  for (size_t f = 0; f < names.size(); ++f)
    if (level_counts[f] < 2)
      return bad_input("factor '" + names[f] + "' has one level; a comparison needs two, leave it out");
  constexpr size_t kMostCells = 1024;  // terms have covariances of their contrasts
  if (values[0].size() > kMostCells)
    return bad_input("a within-subjects analysis takes at most " + std::to_string(kMostCells) +
                     " cells (levels of all factors multiplied), got " + std::to_string(values[0].size()));
  FactorCodes labels;
  labels.names = names;
  std::vector<WithinRow> rows;
  for (TermMask term : crossed_terms((TermMask{1} << names.size()) - 1)) {
    STAB_TRY(WithinRow row, within_row(term_name(labels, term), effect_contrasts(level_counts, term), values));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<WithinRow>> within_anova(const std::vector<std::vector<double>>& values, const FactorCodes& cells,
                                            const std::vector<EstimableTerm>& terms) {
  if (values.size() < 2) return bad_input("a within-subjects analysis needs at least 2 subjects");
  std::vector<WithinRow> rows;
  for (const EstimableTerm& term : terms) {
    if (term.directions.empty())
      return bad_input("too many cells, and some combinations of levels without one: " + term_name(cells, term.term) +
                       " takes too long");
    STAB_TRY(WithinRow row, within_row(term_name(cells, term.term), term.directions, values));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stab::statistics
