// Confidence sequences for the mean of normal values whose variance is not known: intervals of which *all* cover the mean, at
// every number of values together, with probability 1 - alpha. So one may look after each value, stop for whatever was seen,
// and go on after that.
//
// Under no difference, and whatever the variance is, the ratio of two densities of the t statistic is a martingale that
// begins at 1 if the values are taken relative to their scale (Lai, "On confidence sequences", Ann. Statist. 4(2), 1976; Wang
// & Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance", Sequential Analysis
// 44(1), 2025, section 4). Against it stands Robbins' normal mixture: standardized differences delta ~ N(0, g). With t on
// n - 1 degrees of freedom and r = 1 + n g the ratio is
//
//   E = r^(-1/2) ((1 + t^2/(n-1)) / (1 + t^2/((n-1) r)))^(n/2)
//
// (Goenen, Johnson, Lu & Westfall, "The Bayesian two-sample t test", Am. Statistician 59(3), 2005, equation 2). It ever
// reaches 1/alpha with probability alpha at most (Ville 1939), for all n at once; the interval holds the means at which it
// is below that, and min(1, 1/E) is a p-value at any look.
//
// Assumed: normal, independent, equally spread values. g, chosen before the data, sets where the sequence is narrow, not
// whether it holds.
#pragma once

namespace stab::statistics {

// log E. pre: n >= 2, g > 0; t may be infinite
double mixture_log_ratio(double t, double n, double g);

// |t| at which E is 1/alpha; infinite where n is too small for any t to reach that.
double sequence_critical_t(double n, double g, double alpha);

// The g whose intervals after n values are narrowest. pre: n >= 2, 0 < alpha < 1
double mixture_narrowest_at(double n, double alpha);

}  // namespace stab::statistics
