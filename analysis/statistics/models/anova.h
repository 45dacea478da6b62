// Analysis of variance with fixed effects: one-way, Welch's, and factorial with sums of squares of type I, II
// or III, from the moments of cells alone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/statistics/models/linear_model.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "base/result.h"

namespace stab::statistics {

// One line of the table. Residuals have no f, p_value and effect sizes.
struct AnovaRow {
  std::string term;
  double df = 0;
  double sum_squares = 0;
  double mean_square = 0;
  std::optional<double> f;
  std::optional<double> p_value;
  std::optional<double> eta_squared;            // share of the total
  std::optional<double> partial_eta_squared;    // SS / (SS + SS residual)
  std::optional<double> partial_omega_squared;  // df (F - 1) / (df (F - 1) + N); may be negative
};

// Sums of squares. I: each term after those before it (R's aov). II: each term after all that don't contain
// it. III: each term after all others, sum-to-zero contrasts (car::Anova(type = 3)). Equal when balanced.
enum class SumsType { kOne = 1, kTwo = 2, kThree = 3 };

// The response, reduced to moments of each cell that has rows.
// invariant: factors.rows() == cells.size(), each cell has n >= 1, each combination of levels at most once
struct CellTable {
  FactorCodes factors;
  std::vector<Moments> cells;
};

// Groups rows into cells. Values should be near zero (subtract a common value first): moments hold the mean as
// one double.
CellTable aggregate(const FactorCodes& factors, std::span<const double> values);

// Columns of a term that depend on those before it, because combinations of levels are missing: refused with the missing
// cell's name, or left out, so that the term has the fewer degrees of freedom.
enum class Dependent { kRefuse, kLeaveOut };

// pre: terms are masks over table.factors, none 0. Refuses: no residual df, no residual spread, terms that
// can't be told apart (an empty cell; named), factors with one level.
Result<std::vector<AnovaRow>> factorial_anova(const CellTable& table, std::span<const TermMask> terms,
                                              SumsType type, Dependent dependent = Dependent::kRefuse);

// The same for a randomized complete block design in which each block holds each cell equally often: block is
// an additive term, listed last before the residuals. `resolution`: how far rounding may have moved a value when it was read;
// residuals of no more are none. pre: block.size() == values.size()
Result<std::vector<AnovaRow>> blocked_anova(const FactorCodes& factors, std::span<const double> values,
                                            std::span<const uint32_t> block, std::span<const TermMask> terms,
                                            SumsType type, Dependent dependent = Dependent::kRefuse, double resolution = 0);

struct OneWay {
  double f = 0;
  double df1 = 0;
  double df2 = 0;
  double p_value = 1;
};
// Welch (1951), "On the comparison of several mean values": unequal variances, R's oneway.test().
Result<OneWay> welch_anova(std::span<const Moments> groups);

}  // namespace stab::statistics
