// Analysis of variance with error strata, as R's aov(y ~ a * b + Error(block)) and Error(subject / (a * b)):
// each effect is tested against the error of the stratum it lives in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/statistics/models/anova.h"
#include "analysis/statistics/models/effects.h"
#include "base/result.h"

namespace stab::statistics {

// The residuals row is last and absent when the stratum has no residual df; then f and p_value are absent too.
struct Stratum {
  std::string name;  // "block", "subject:code", "within"
  std::vector<AnovaRow> rows;
};

// Effects are sequential (type I) within each stratum. error_terms in order, without the last one ("within"),
// which takes what is left.
Result<std::vector<Stratum>> strata_anova(const FactorCodes& factors, std::span<const double> values,
                                          std::span<const TermMask> terms, std::span<const TermMask> error_terms);

// One effect of a design in which each subject has each cell exactly once (or its mean).
struct WithinRow {
  AnovaRow anova;              // tested against effect x subject
  double error_df = 0;
  double error_sum_squares = 0;
  // Departure from sphericity; 1 where the effect has one df. p_value holds without it.
  double greenhouse_geisser = 1;
  double huynh_feldt = 1;
  double p_greenhouse_geisser = 1;
  double p_huynh_feldt = 1;
  // Mauchly's test; absent for one df or where n is too small.
  std::optional<double> mauchly_w;
  std::optional<double> mauchly_p;
};

// cells: values[subject][cell], cells in row-major order of the factors' levels (last factor fastest).
// level_counts: levels of each factor. Needs 2 subjects; refuses an effect without error variance.
Result<std::vector<WithinRow>> within_anova(const std::vector<std::vector<double>>& values,
                                            const std::vector<std::string>& names,
                                            const std::vector<size_t>& level_counts);

// The same for any cells: values[subject][cell], cells and terms as effects_of() gives them, with directions.
Result<std::vector<WithinRow>> within_anova(const std::vector<std::vector<double>>& values, const FactorCodes& cells,
                                            const std::vector<EstimableTerm>& terms);

}  // namespace stab::statistics
