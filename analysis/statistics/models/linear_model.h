// Least squares on factors: sum-to-zero columns of terms, and an orthogonalizer that takes them one by one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stab::statistics {

using Column = std::vector<double>;

// A set of factors that enter a term together: bit i is factor i. 0 is the intercept.
using TermMask = uint32_t;

// Which level each row has, factor by factor.
// invariant: codes[f].size() is the number of rows, codes[f][r] < level_names[f].size()
struct FactorCodes {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> level_names;
  std::vector<std::vector<uint32_t>> codes;

  size_t rows() const { return codes.empty() ? 0 : codes[0].size(); }
};

// "code:stack"; "(intercept)" for 0.
std::string term_name(const FactorCodes& factors, TermMask term);

// A mask holds so many factors; crossing as many as kMostCrossed makes 1023 terms, beyond any table.
inline constexpr size_t kMostFactors = 31;
inline constexpr size_t kMostCrossed = 10;

// All non-empty subsets of the factors in `full`, lower orders first, then by factor order: R's order of a*b*c.
// pre: at most kMostCrossed factors
std::vector<TermMask> crossed_terms(TermMask full);

// Columns of a term in sum-to-zero coding: the product of its factors' levels - 1. May be far too many to make.
double column_count(const FactorCodes& factors, TermMask term);

// The columns of one term in sum-to-zero coding: products of the factors' columns, as contr.sum. Each row is
// multiplied by row_weight (empty: 1).
std::vector<Column> term_columns(const FactorCodes& factors, TermMask term, std::span<const double> row_weight);

// Gram-Schmidt, run twice on each column, which is as stable as Householder ("twice is enough", Parlett 1980)
// and tells at once whether a column adds a direction, in the order the columns come.
class Orthogonalizer {
 public:
  // False when the column depends on those before it: less than 1e-7 of its length is left, R's tolerance.
  bool add(Column column);

  size_t rank() const { return directions_.size(); }
  const Column& direction(size_t index) const { return directions_[index]; }

 private:
  std::vector<Column> directions_;  // invariant: orthonormal
};

double dot(std::span<const double> a, std::span<const double> b);
// y -= factor * x
void subtract(Column& y, double factor, std::span<const double> x);

}  // namespace stab::statistics
