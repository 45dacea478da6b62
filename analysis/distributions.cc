// Boost.Math behind plain functions: its headers take seconds to compile, so they are included here alone.
//
// Boost throws on a domain error; callers of these functions guarantee the domain, so a throw would be our
// bug. Overflow and underflow give infinity and 0, as IEEE does.
#include "analysis/distributions.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/non_central_f.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace stab::analysis {
namespace {

namespace bm = boost::math;
using Quiet = bm::policies::policy<bm::policies::overflow_error<bm::policies::ignore_error>,
                                   bm::policies::underflow_error<bm::policies::ignore_error>>;
using Normal = bm::normal_distribution<double, Quiet>;
using StudentT = bm::students_t_distribution<double, Quiet>;
using FisherF = bm::fisher_f_distribution<double, Quiet>;
using ChiSquared = bm::chi_squared_distribution<double, Quiet>;
using Beta = bm::beta_distribution<double, Quiet>;
using NoncentralT = bm::non_central_t_distribution<double, Quiet>;
using NoncentralF = bm::non_central_f_distribution<double, Quiet>;

}  // namespace

// The C library's erfc is accurate to an ulp and a good deal faster, which the nested integrals of studentized.cc
// feel.
double normal_cdf(double z) { return 0.5 * std::erfc(-z * 0.70710678118654752440); }
double normal_upper(double z) { return 0.5 * std::erfc(z * 0.70710678118654752440); }
double normal_quantile(double p) {
  if (p > 0.5) return -bm::quantile(Normal(), 1 - p);
  return bm::quantile(Normal(), p);
}
double normal_density(double z) { return std::exp(-0.5 * z * z) * 0.3989422804014326779399460599344; }

double t_upper(double t, double df) { return bm::cdf(bm::complement(StudentT(df), t)); }
double t_two_sided(double t, double df) { return 2 * t_upper(std::fabs(t), df); }
double t_quantile(double p, double df) { return bm::quantile(StudentT(df), p); }

double f_upper(double f, double df1, double df2) {
  if (std::isinf(df2)) return chi_squared_upper(f * df1, df1);
  return bm::cdf(bm::complement(FisherF(df1, df2), f));
}
double f_quantile(double p, double df1, double df2) {
  if (std::isinf(df2)) return chi_squared_quantile(p, df1) / df1;
  return bm::quantile(FisherF(df1, df2), p);
}

double chi_squared_upper(double x, double df) { return bm::cdf(bm::complement(ChiSquared(df), x)); }
double chi_squared_quantile(double p, double df) { return bm::quantile(ChiSquared(df), p); }

double beta_lower(double x, double a, double b) { return bm::cdf(Beta(a, b), x); }
double beta_quantile(double p, double a, double b) { return bm::quantile(Beta(a, b), p); }

double noncentral_t_cdf(double t, double df, double delta) { return bm::cdf(NoncentralT(df, delta), t); }
double noncentral_t_upper(double t, double df, double delta) {
  return bm::cdf(bm::complement(NoncentralT(df, delta), t));
}
double noncentral_f_upper(double f, double df1, double df2, double lambda) {
  if (lambda == 0) return f_upper(f, df1, df2);
  return bm::cdf(bm::complement(NoncentralF(df1, df2, lambda), f));
}

double log_gamma(double x) { return bm::lgamma(x, Quiet()); }

}  // namespace stab::analysis
