// Distributions that Boost lacks: the studentized range (Tukey) and the largest of several t statistics that
// share a control (Dunnett). Absolute error below 1e-10, relative error of small upper tails below 1e-8.
#pragma once

#include <span>

namespace stab::statistics {

// P(Q > q) of the range of `means` standard normals over an independent chi / sqrt(df). pre: means >= 2, df > 0
// (may be infinite), q >= 0
double studentized_range_upper(double q, double means, double df);
// The q with P(Q > q) = upper. pre: 0 < upper < 1
double studentized_range_quantile(double upper, double means, double df);

// P(max |T_i| > q), or P(max T_i > q) one-sided, for T_i with correlations lambda_i lambda_j; lambda_i =
// sqrt(n_i / (n_i + n_0)) for group i against the control's n_0. pre: 0 < lambda_i < 1, df > 0
double dunnett_upper(double q, std::span<const double> lambda, double df, bool two_sided);
double dunnett_quantile(double upper, std::span<const double> lambda, double df, bool two_sided);

}  // namespace stab::statistics
