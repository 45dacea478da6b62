// Boost.Math behind plain functions: its headers take seconds to compile, so they are included here alone.
//
// Overflow and underflow give infinity and 0, as IEEE does. Boost throws where its series don't converge and, at the ends
// of a double's range, where its own steps leave a domain: such a number can't be had, and is NaN, which no finding and
// no contrast lets through.
#include "analysis/statistics/distributions/distributions.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/non_central_f.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

namespace stab::statistics {
namespace {

namespace bm = boost::math;
using Quiet = bm::policies::policy<bm::policies::overflow_error<bm::policies::ignore_error>,
                                   bm::policies::underflow_error<bm::policies::ignore_error>>;
using Normal = bm::normal_distribution<double, Quiet>;
using StudentT = bm::students_t_distribution<double, Quiet>;
using FastStudentT = bm::students_t_distribution<
    double, bm::policies::normalise<Quiet, bm::policies::promote_double<false>>::type>;
using FisherF = bm::fisher_f_distribution<double, Quiet>;
using ChiSquared = bm::chi_squared_distribution<double, Quiet>;
using Beta = bm::beta_distribution<double, Quiet>;
using NoncentralT = bm::non_central_t_distribution<double, Quiet>;
using NoncentralF = bm::non_central_f_distribution<double, Quiet>;

template <typename Function>
double of_boost(const Function& function) {
  try {
    return function();
  } catch (const std::exception&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

// The C library's erfc is accurate to an ulp and a good deal faster, which the nested integrals of studentized.cc
// feel.
double normal_cdf(double z) { return 0.5 * std::erfc(-z * 0.70710678118654752440); }
double normal_upper(double z) { return 0.5 * std::erfc(z * 0.70710678118654752440); }
double normal_quantile(double p) {
  if (p > 0.5) return of_boost([&] { return -bm::quantile(Normal(), 1 - p); });
  return of_boost([&] { return bm::quantile(Normal(), p); });
}
double normal_density(double z) { return std::exp(-0.5 * z * z) * 0.3989422804014326779399460599344; }

double t_upper(double t, double df) { return of_boost([&] { return bm::cdf(bm::complement(StudentT(df), t)); }); }
double t_two_sided(double t, double df) { return 2 * t_upper(std::fabs(t), df); }
double t_quantile(double p, double df) { return of_boost([&] { return bm::quantile(StudentT(df), p); }); }
double t_quantile_upper(double upper, double df) {
  return of_boost([&] { return bm::quantile(bm::complement(StudentT(df), upper)); });
}
double t_upper_fast(double t, double df) {
  return of_boost([&] { return bm::cdf(bm::complement(FastStudentT(df), t)); });
}
double t_quantile_upper_fast(double upper, double df) {
  return of_boost([&] { return bm::quantile(bm::complement(FastStudentT(df), upper)); });
}

double f_upper(double f, double df1, double df2) {
  if (std::isinf(df2)) return chi_squared_upper(f * df1, df1);
  return of_boost([&] { return bm::cdf(bm::complement(FisherF(df1, df2), f)); });
}
double f_quantile_upper(double upper, double df1, double df2) {
  return of_boost([&] { return bm::quantile(bm::complement(FisherF(df1, df2), upper)); });
}

double chi_squared_upper(double x, double df) { return of_boost([&] { return bm::cdf(bm::complement(ChiSquared(df), x)); }); }
double chi_squared_lower(double x, double df) { return of_boost([&] { return bm::cdf(ChiSquared(df), x); }); }
double chi_squared_quantile(double p, double df) { return of_boost([&] { return bm::quantile(ChiSquared(df), p); }); }
double chi_squared_quantile_upper(double upper, double df) {
  return of_boost([&] { return bm::quantile(bm::complement(ChiSquared(df), upper)); });
}

double beta_lower(double x, double a, double b) { return of_boost([&] { return bm::cdf(Beta(a, b), x); }); }
double beta_quantile(double p, double a, double b) { return of_boost([&] { return bm::quantile(Beta(a, b), p); }); }

// Noncentral distributions. Boost sums Poisson weights around half the squared noncentrality, which needs ever more
// terms and ends in an exception where their number isn't an int. Far out the normal variable in the numerator is nearly
// a constant, and what is left is one smooth integral over it.

namespace {

constexpr double kLargestDelta = 1000;   // up to here Boost's series are used: some thousand terms
constexpr double kLargestLambda = kLargestDelta * kLargestDelta;

// The mean of `smooth` over a standard normal variable, by the trapezoidal rule.
template <typename Function>
double over_normal(const Function& smooth) {
  constexpr double kStep = 0.1, kReach = 9;
  double sum = 0;
  for (int i = -static_cast<int>(kReach / kStep); i <= static_cast<int>(kReach / kStep); ++i)
    sum += normal_density(i * kStep) * smooth(i * kStep);
  return std::min(1.0, sum * kStep);
}

double finite(double x) { return std::min(x, 1e300); }

// pre: delta > kLargestDelta. T > t where the chi variable lies below (z + delta) / t.
double far_noncentral_t(double t, double df, double delta, bool upper) {
  if (!(t > 0) || std::isinf(delta)) return upper ? 1 : 0;
  constexpr double kManyDf = 1e5;  // beyond it chi / sqrt(df) is normal: Abramowitz & Stegun 26.7.10
  if (df > kManyDf) {
    const double z = (delta - t * (1 - 1 / (4 * df))) / std::sqrt(1 + t * t / (2 * df));
    return upper ? normal_cdf(z) : normal_upper(z);
  }
  return over_normal([=](double z) {
    const double root = (z + delta) / t, x = finite(df * root * root);
    return upper ? chi_squared_lower(x, df) : chi_squared_upper(x, df);
  });
}

// pre: lambda > kLargestLambda. The numerator's cube root is normal: Abdel-Aty (1954), Biometrika 41.
double far_noncentral_f(double f, double df1, double df2, double lambda) {
  if (!(f > 0) || std::isinf(lambda)) return 1;
  const double centre = df1 + lambda, spread = 2 * (1 + lambda / centre) / (9 * centre);
  constexpr double kManyDf = 1e4;  // beyond it so is the denominator's: Severo & Zelen (1960), Biometrika 47
  if (df2 > kManyDf) {
    const double root = std::cbrt(f * df1 / centre);
    return normal_upper(((1 - 2 / (9 * df2)) * root - (1 - spread)) / std::sqrt(spread + 2 / (9 * df2) * root * root));
  }
  return over_normal([=](double z) {
    const double root = std::max(0.0, 1 - spread + z * std::sqrt(spread));
    return chi_squared_lower(finite(df2 * (centre / df1) * root * root * root / f), df2);
  });
}

double noncentral_t(double t, double df, double delta, bool upper) {
  if (std::isinf(t)) return (t < 0) == upper ? 1 : 0;
  if (delta < 0) return noncentral_t(-t, df, -delta, !upper);
  if (delta > kLargestDelta) return far_noncentral_t(t, df, delta, upper);
  const double p = of_boost([&] {
    const NoncentralT distribution(df, delta);
    return upper ? bm::cdf(bm::complement(distribution, t)) : bm::cdf(distribution, t);
  });
  return std::clamp(p, 0.0, 1.0);
}

}  // namespace

double noncentral_t_cdf(double t, double df, double delta) { return noncentral_t(t, df, delta, false); }
double noncentral_t_upper(double t, double df, double delta) { return noncentral_t(t, df, delta, true); }
double noncentral_f_upper(double f, double df1, double df2, double lambda) {
  if (lambda == 0) return f_upper(f, df1, df2);
  if (lambda > kLargestLambda) return far_noncentral_f(f, df1, df2, lambda);
  return std::clamp(of_boost([&] { return bm::cdf(bm::complement(NoncentralF(df1, df2, lambda), f)); }), 0.0, 1.0);
}

double log_gamma(double x) { return of_boost([&] { return bm::lgamma(x, Quiet()); }); }
double log_choose(double n, double k) { return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1); }

}  // namespace stab::statistics
