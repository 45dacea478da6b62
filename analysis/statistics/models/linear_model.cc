// Columns of factor terms and their orthogonalization. Analysis of variance needs no coefficients: the sum of
// squares of a term is the squared length of y along the directions that its columns add. So a QR by columns,
// in which a dependent column is noticed when it comes, is all there is.
#include "analysis/statistics/models/linear_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace stab::statistics {

std::string term_name(const FactorCodes& factors, TermMask term) {
  std::string name;
  for (size_t f = 0; f < factors.names.size(); ++f) {
    if (!(term >> f & 1)) continue;
    if (!name.empty()) name += ':';
    name += factors.names[f];
  }
  return name.empty() ? "(intercept)" : name;
}

std::vector<TermMask> crossed_terms(TermMask full) {
  std::vector<TermMask> terms;
  for (TermMask term = full; term; term = (term - 1) & full) terms.push_back(term);
  // Reversing the bits makes "earlier factor first" the larger number.
  const auto reversed = [](TermMask term) {
    TermMask out = 0;
    for (int bit = 0; bit < 32; ++bit)
      if (term >> bit & 1) out |= 1u << (31 - bit);
    return out;
  };
  std::sort(terms.begin(), terms.end(), [&](TermMask a, TermMask b) {
    if (std::popcount(a) != std::popcount(b)) return std::popcount(a) < std::popcount(b);
    return reversed(a) > reversed(b);
  });
  return terms;
}

double column_count(const FactorCodes& factors, TermMask term) {
  double count = 1;
  for (size_t f = 0; f < factors.names.size(); ++f)
    if (term >> f & 1) count *= static_cast<double>(factors.level_names[f].size()) - 1;
  return count;
}

std::vector<Column> term_columns(const FactorCodes& factors, TermMask term, std::span<const double> row_weight) {
  const size_t rows = factors.rows();
  Column start(rows, 1.0);
  if (!row_weight.empty()) start.assign(row_weight.begin(), row_weight.end());
  std::vector<Column> columns{std::move(start)};
  for (size_t f = 0; f < factors.names.size(); ++f) {
    if (!(term >> f & 1)) continue;
    const auto last = static_cast<uint32_t>(factors.level_names[f].size() - 1);
    std::vector<Column> product;
    for (uint32_t level = 0; level < last; ++level) {
      for (const Column& column : columns) {
        Column next(rows);
        for (size_t row = 0; row < rows; ++row) {
          const uint32_t code = factors.codes[f][row];
          const double sign = code == level ? 1.0 : (code == last ? -1.0 : 0.0);
          next[row] = sign * column[row];
        }
        product.push_back(std::move(next));
      }
    }
    columns = std::move(product);
  }
  return columns;
}

double dot(std::span<const double> a, std::span<const double> b) {
  // Four sums: lets the compiler keep four multiplications in flight, and halves the rounding error.
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < a.size(); ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

void subtract(Column& y, double factor, std::span<const double> x) {
  for (size_t i = 0; i < y.size(); ++i) y[i] -= factor * x[i];
}

bool Orthogonalizer::add(Column column) {
  constexpr double kTolerance = 1e-7;
  const double before = std::sqrt(dot(column, column));
  if (before == 0) return false;
  for (int pass = 0; pass < 2; ++pass)
    for (const Column& direction : directions_) subtract(column, dot(direction, column), direction);
  const double after = std::sqrt(dot(column, column));
  if (after <= kTolerance * before) return false;
  for (double& value : column) value /= after;
  directions_.push_back(std::move(column));
  return true;
}

}  // namespace stab::statistics
