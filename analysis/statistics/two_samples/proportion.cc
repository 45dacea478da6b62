// Clopper & Pearson, Biometrika 26 (1934): the interval holds every proportion that a one-sided test at half the
// level wouldn't reject; its ends are beta quantiles. The two-sided p-value sums all outcomes that are no more likely
// than the one seen, as binom.test() does.
#include "analysis/statistics/two_samples/proportion.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::statistics {
namespace {

struct Binomial {
  double n, p;
  // P(X = k)
  double mass(double k) const {
    if (p == 0) return k == 0;
    if (p == 1) return k == n;
    return std::exp(log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1) + k * std::log(p) + (n - k) * std::log1p(-p));
  }
  // P(X >= k) = I_p(k, n - k + 1)
  double at_least(double k) const {
    if (k <= 0) return 1;
    if (k > n) return 0;
    return beta_lower(p, k, n - k + 1);
  }
  double at_most(double k) const {
    if (k < 0) return 0;
    if (k >= n) return 1;
    return beta_lower(1 - p, n - k, k + 1);
  }
};

// The first k in [low, high) with mass <= limit, where the mass falls from low on; high if there is none.
double first_below(const Binomial& binomial, double low, double high, double limit) {
  while (low < high) {
    const double middle = std::floor((low + high) / 2);
    if (binomial.mass(middle) <= limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

double two_sided(const Binomial& binomial, double k) {
  const double mean = binomial.n * binomial.p;
  if (std::fabs(k - mean) <= 1e-12 * binomial.n) return 1;
  // Ties with the outcome seen count, whatever rounding says.
  const double limit = binomial.mass(k) * (1 + 1e-7);
  if (k < mean)
    return std::min(1.0, binomial.at_most(k) + binomial.at_least(first_below(binomial, std::ceil(mean), binomial.n + 1, limit)));
  // Mirrored: failures instead of successes.
  return two_sided({binomial.n, 1 - binomial.p}, binomial.n - k);
}

}  // namespace

Result<ProportionTest> exact_binomial(uint64_t successes, uint64_t trials, double p, Alternative alternative,
                                      double conf) {
  if (trials == 0) return bad_input("a proportion needs at least one trial");
  if (successes > trials)
    return bad_input(std::to_string(successes) + " successes in " + std::to_string(trials) + " trials");
  if (!(p >= 0 && p <= 1)) return bad_input("the proportion to test against must lie between 0 and 1");
  const auto k = static_cast<double>(successes), n = static_cast<double>(trials);
  const Binomial binomial{n, p};
  const double tail = alternative == Alternative::kTwoSided ? (1 - conf) / 2 : 1 - conf;
  ProportionTest test;
  test.estimate = k / n;
  if (alternative != Alternative::kLess && successes > 0) test.conf_low = beta_quantile(tail, k, n - k + 1);
  if (alternative != Alternative::kGreater && successes < trials) test.conf_high = beta_quantile(1 - tail, k + 1, n - k);
  switch (alternative) {
    case Alternative::kLess: test.p_value = binomial.at_most(k); break;
    case Alternative::kGreater: test.p_value = binomial.at_least(k); break;
    case Alternative::kTwoSided: test.p_value = two_sided(binomial, k); break;
  }
  return test;
}

}  // namespace stab::statistics
