// Cohen's d and Hedges' g. The interval inverts the noncentral t: the noncentralities for which the observed t is
// at the edge of what would be seen.
#include "analysis/statistics/two_samples/effect_size.h"

#include <cmath>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::statistics {
namespace {

// The noncentrality at which P(T > t) = upper; increasing in the noncentrality.
double noncentrality(double t, double df, double upper) {
  double reach = 10 + std::fabs(t);
  while (noncentral_t_upper(t, df, t - reach) > upper || noncentral_t_upper(t, df, t + reach) < upper) reach *= 2;
  double low = t - reach, high = t + reach;
  for (int step = 0; step < 200 && high - low > 1e-13 * (1 + std::fabs(high)); ++step) {
    const double middle = 0.5 * (low + high);
    (noncentral_t_upper(t, df, middle) < upper ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

Result<StandardizedDifference> cohen_d(const Moments& first, const Moments& second, double conf) {
  STAB_TRY(const TTest test, student_t(first, second, 0, Alternative::kTwoSided, conf));
  if (std::fabs(test.statistic) > 1000)
    return bad_input("the groups lie more than 1000 standard errors apart: a standardized difference says nothing");
  const auto n1 = static_cast<double>(first.n), n2 = static_cast<double>(second.n);
  const double scale = std::sqrt(1 / n1 + 1 / n2);
  StandardizedDifference d;
  d.estimate = test.statistic * scale;
  d.conf_low = noncentrality(test.statistic, test.df, (1 - conf) / 2) * scale;
  d.conf_high = noncentrality(test.statistic, test.df, (1 + conf) / 2) * scale;
  // Hedges (1981), eq. 6e.
  const double j = std::exp(log_gamma(test.df / 2) - 0.5 * std::log(test.df / 2) - log_gamma((test.df - 1) / 2));
  d.correction = j;
  d.hedges_g = d.estimate * j;
  return d;
}

}  // namespace stab::statistics
