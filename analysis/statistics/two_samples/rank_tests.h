// Tests on ranks: Wilcoxon's signed-rank and Mann and Whitney's test, exact with and without ties, and their
// stratified, several-sample and blocked relatives.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/two_samples/t_tests.h"
#include "base/result.h"

namespace stab::statistics {

// How the p-value is got. Automatic is R's rule: exact below 50 values where there are no ties and no zeros,
// else the normal approximation.
enum class RankMethod { kAutomatic, kExact, kAsymptotic };

struct RankTest {
  double statistic = 0;             // V: sum of positive ranks; W: rank sum of the first sample minus its minimum
  double p_value = 1;
  bool exact = false;
  double estimate = 0;              // Hodges-Lehmann: (pseudo)median, or shift of the first from the second
  std::optional<double> conf_low;   // absent on the open side, or where n is too small for the level
  std::optional<double> conf_high;
  double achieved_conf = 0;         // exact intervals come in steps
};

struct RankOptions {
  double mu = 0;
  Alternative alternative = Alternative::kTwoSided;
  double conf = 0.95;
  RankMethod method = RankMethod::kAutomatic;
  bool continuity = true;           // of the normal approximation
  // Of signed ranks: values equal to mu take part in estimate and interval, where R drops them there, too. p drops them in any
  // case.
  bool zeros_stay = false;
};

// Zeros are dropped before ranking, as R's wilcox.test(). Exact with ties: the permutation distribution of the
// mid-ranks by the shift algorithm (Streitberg & Roehmel 1986), as coin::wilcoxsign_test(zero.method = "Wilcoxon").
// Intervals of exact tests are distribution-free; with ties they take the steps of untied ranks, which hold their level then, too
// (Hollander, Wolfe & Chicken 2014, sections 3.3 and 4.3).
Result<RankTest> wilcoxon_signed_rank(std::span<const double> values, const RankOptions& options);
Result<RankTest> mann_whitney(std::span<const double> first, std::span<const double> second,
                              const RankOptions& options);

struct ChiSquaredTest {
  double statistic = 0;
  double df = 0;
  double p_value = 1;
};

// Kruskal & Wallis (1952), corrected for ties.
Result<ChiSquaredTest> kruskal_wallis(const std::vector<std::vector<double>>& groups);
// Friedman (1937), corrected for ties. rows: blocks, columns: treatments.
Result<ChiSquaredTest> friedman(const std::vector<std::vector<double>>& blocks);

// van Elteren (1960): Mann and Whitney's test within strata, combined with weights 1 / (n + 1). Two-sided, as far from
// the expectation or farther. With fewer than kExactBelow values on each side in all: exact, from the permutations of
// the mid-ranks within each stratum; where strata of many sizes have too many sums for that, from 9,999 random
// permutations with a fixed seed, (b + 1) / (m + 1). From there on the normal approximation without continuity correction,
// variance corrected for ties.
struct Stratum2 {
  std::span<const double> first;
  std::span<const double> second;
};
Result<double> van_elteren_p(std::span<const Stratum2> strata);

// The rank p of a report's contrast of one sample of draws: Wilcoxon's signed ranks, two-sided. Below kExactBelow values
// exact with ties, too; there R's rule would take the normal approximation at any n.
Result<double> signed_rank_p(std::span<const double> values);

// The least p that these could have come to: all signs alike, or all values of one side above the other's.
double signed_rank_least_p(std::span<const double> values);
double van_elteren_least_p(std::span<const Stratum2> strata);

// Values that came from others which cancel, such as a block's difference: what is left of equal ones is rounding, up to
// `resolution`. Values within it of 0 become 0, and sizes within it of a smaller one become that one.
std::vector<double> without_rounding(std::span<const double> values, double resolution);
// The resolution of sums of so many terms, each of which was read or is a logarithm, whose sizes add up to `sizes`.
double rounding_of(double sizes, size_t terms);

// R's rule, for reports: as many values are ranked exactly.
inline constexpr size_t kExactBelow = 50;

}  // namespace stab::statistics
