// Distributions: the few tail areas and quantiles that tests need, from Boost.Math. Upper tails are computed
// as complements, so that small p-values keep their digits (down to about 1e-300).
#pragma once

namespace stab::statistics {

double normal_cdf(double z);
double normal_upper(double z);
double normal_quantile(double p);  // pre: 0 < p < 1
double normal_density(double z);

// pre: df > 0
double t_upper(double t, double df);
double t_two_sided(double t, double df);
double t_quantile(double p, double df);
// The t that is exceeded with probability `upper`: keeps its digits where 1 - upper rounds to 1. pre: 0 < upper < 1
double t_quantile_upper(double upper, double df);
// The same in double precision: to 13 digits, several times as fast.
double t_upper_fast(double t, double df);
double t_quantile_upper_fast(double upper, double df);

// pre: df1 > 0, df2 > 0. df2 may be infinite for the quantile of chi-squared / df1.
double f_upper(double f, double df1, double df2);
double f_quantile_upper(double upper, double df1, double df2);  // as t_quantile_upper

double chi_squared_upper(double x, double df);
double chi_squared_lower(double x, double df);
double chi_squared_quantile(double p, double df);
double chi_squared_quantile_upper(double upper, double df);  // as t_quantile_upper

// The regularized incomplete beta function I_x(a, b), and its inverse. pre: a > 0, b > 0
double beta_lower(double x, double a, double b);
double beta_quantile(double p, double a, double b);

// P(T <= t) and P(T > t) of Student's t with noncentrality delta, and P(F > f). Any noncentrality, infinite ones
// included. pre: df >= 1, lambda >= 0
double noncentral_t_cdf(double t, double df, double delta);
double noncentral_t_upper(double t, double df, double delta);
double noncentral_f_upper(double f, double df1, double df2, double lambda);

double log_gamma(double x);
// The logarithm of n over k.
double log_choose(double n, double k);

}  // namespace stab::statistics
