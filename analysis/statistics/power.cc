// Power by the noncentral t and F distributions; sample sizes by bisection, since power rises with n.
#include "analysis/statistics/power.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/statistics/distributions.h"
#include "base/number_text.h"

namespace stab::analysis {
namespace {

// x in [low, high] with rising(x) = target.
Result<double> solve_rising(double low, double high, double target, const std::function<double(double)>& rising,
                            const char* what) {
  if (rising(low) >= target) return low;
  if (!(rising(high) >= target))
    return bad_input(std::string("no ") + what + " below " + std::to_string(static_cast<uint64_t>(high)) + " reaches that power");
  for (int step = 0; step < 300 && high - low > 1e-12 * high; ++step) {
    const double middle = 0.5 * (low + high);
    (rising(middle) < target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

Status check_power(double power, double alpha) {
  if (!(power > 0 && power < 1)) return bad_input("power must lie between 0 and 1");
  if (!(alpha > 0 && alpha < 1)) return bad_input("the level must lie between 0 and 1");
  return {};
}

}  // namespace

double t_power(const TPower& plan, bool strict) {
  const double samples = plan.design == TDesign::kTwoSample ? 2 : 1;
  const double df = std::max(1e-7, (plan.n - 1) * samples);
  const double noncentrality = std::sqrt(plan.n / samples) * (plan.delta / plan.sd);
  const double critical = t_quantile_upper(plan.alpha / (plan.two_sided ? 2 : 1), df);
  double power = noncentral_t_upper(critical, df, noncentrality);
  if (strict && plan.two_sided) power += noncentral_t_cdf(-critical, df, noncentrality);
  return std::min(power, 1.0);
}

Result<double> t_sample_size(const TPower& plan, double power, bool strict) {
  STAB_CHECK_OK(check_power(power, plan.alpha));
  if (plan.delta == 0) return bad_input("no sample size finds a difference of 0; give the smallest that matters");
  TPower at = plan;
  at.delta = std::fabs(plan.delta);
  return solve_rising(2, 1e7, power, [&](double n) { at.n = n; return t_power(at, strict); }, "n");
}

Result<double> t_detectable(const TPower& plan, double power, bool strict) {
  STAB_CHECK_OK(check_power(power, plan.alpha));
  if (plan.n < 2) return bad_input("n must be at least 2");
  TPower at = plan;
  const auto rising = [&](double delta) { at.delta = delta; return t_power(at, strict); };
  if (rising(0) >= power)
    return bad_input("without any difference the test says so that often already; the power must be above " +
                     number_text(rising(0)));
  // In units of the standard error a difference must exceed the critical value by a few to be found.
  const double samples = plan.design == TDesign::kTwoSample ? 2 : 1;
  double most = plan.sd / std::sqrt(plan.n / samples);
  while (rising(most) < power && std::isfinite(2 * most)) most *= 2;
  if (rising(most) < power) return bad_input("no difference that a double holds is found with that power; raise n or the level");
  double least = most / 2;
  while (rising(least) >= power && least > 0) least /= 2;
  return solve_rising(least, most, power, rising, "difference");
}

double anova_power(const AnovaPower& plan) {
  const double df1 = plan.groups - 1, df2 = (plan.n - 1) * plan.groups;
  const double lambda = (plan.groups - 1) * plan.n * (plan.between_variance / plan.within_variance);
  return noncentral_f_upper(f_quantile_upper(plan.alpha, df1, df2), df1, df2, lambda);
}

Result<double> anova_sample_size(const AnovaPower& plan, double power) {
  STAB_CHECK_OK(check_power(power, plan.alpha));
  if (!(plan.between_variance > 0)) return bad_input("no sample size finds means that don't differ");
  AnovaPower at = plan;
  return solve_rising(2, 1e6, power, [&](double n) { at.n = n; return anova_power(at); }, "n");
}

Result<uint64_t> layouts_for_margin(const Components& components, uint64_t runs, double margin, double alpha,
                                    double power) {
  STAB_CHECK_OK(check_power(power, alpha));
  if (!(margin > 0)) return bad_input("the margin must be > 0");
  const double sd = std::hypot(components.layout_sd, components.run_sd / std::sqrt(static_cast<double>(runs)));
  if (!(sd > 0)) return bad_input("the pilot shows no variance; measure with a finer clock");
  TPower plan{.delta = margin, .sd = sd, .alpha = alpha};
  STAB_TRY(const double n, t_sample_size(plan, power));
  return static_cast<uint64_t>(std::ceil(n));
}

}  // namespace stab::analysis
