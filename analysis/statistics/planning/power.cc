// Power by the noncentral t and F distributions; sample sizes by bisection, since power rises with n.
#include "analysis/statistics/planning/power.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "base/number_text.h"

namespace stab::statistics {
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

// Gauss and Legendre's nodes and weights on [-1, 1], from the roots of the polynomial.
constexpr size_t kNodes = 16;
struct Legendre {
  std::array<double, kNodes> at{}, weight{};
  Legendre() {
    for (size_t i = 0; i < kNodes; ++i) {
      double x = std::cos(M_PI * (static_cast<double>(i) + 0.75) / (kNodes + 0.5)), slope = 1;
      for (int round = 0; round < 50; ++round) {
        double before = 1, value = x;
        for (size_t k = 2; k <= kNodes; ++k) {
          const double next =
              (static_cast<double>(2 * k - 1) * x * value - static_cast<double>(k - 1) * before) / static_cast<double>(k);
          before = value;
          value = next;
        }
        slope = kNodes * (x * value - before) / (x * x - 1);
        x -= value / slope;
      }
      at[i] = x;
      weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
  }
};

}  // namespace

// Over x = log s, whose density is proportional to exp(df (x - exp(2 x) / 2)): smooth, and falling fast on both sides. It is
// divided by its own integral, so that no constant loses digits where df is large.
double over_spread(double df, std::span<const double> kinks, const std::function<double(double)>& f) {
  constexpr double kManyDf = 1e9;  // s lies within 1e-4 of 1
  if (!(df < kManyDf)) return f(1);
  static const Legendre legendre;
  const double spread = 1 / std::sqrt(2 * df), low = -9 * spread - 36 / df, high = std::min(9 * spread, 2.5);
  std::vector<double> ends{low, high};
  for (const double kink : kinks)
    if (kink > 0 && std::isfinite(kink) && std::log(kink) > low && std::log(kink) < high) ends.push_back(std::log(kink));
  // Most of it lies within some spreads of 1; what is far below is flat.
  for (const double at : {-40.0, -30.0, -22.0, -16.0, -12.0, -9.0, -6.0, -4.0, -2.5, -1.0, 0.0, 1.0, 2.5, 4.0, 6.0})
    if (at * spread > low && at * spread < high) ends.push_back(at * spread);
  std::sort(ends.begin(), ends.end());
  double sum = 0, mass = 0;
  for (size_t panel = 0; panel + 1 < ends.size(); ++panel) {
    const double half = (ends[panel + 1] - ends[panel]) / 2, middle = (ends[panel + 1] + ends[panel]) / 2;
    if (!(half > 0)) continue;
    for (size_t i = 0; i < kNodes; ++i) {
      const double x = middle + half * legendre.at[i];
      const double density = half * legendre.weight[i] * std::exp(df * (x - std::expm1(2 * x) / 2));
      mass += density;
      sum += density * f(std::exp(x));
    }
  }
  return sum / mass;
}

double change_power(const Estimated& truth, double level) {
  const double noncentrality = std::fabs(truth.difference) / truth.standard_error;
  return noncentral_t_upper(t_quantile_upper(level / 2, truth.df), truth.df, noncentrality);
}

double equivalence_power(const Estimated& truth, double margin, double level) {
  // An estimate with the error s passes both where it lies within margin - t s of 0.
  const double t = t_quantile_upper(level, truth.df), room = margin / truth.standard_error;
  const double shift = truth.difference / truth.standard_error;
  const double kinks[] = {room / t};
  return over_spread(truth.df, kinks, [&](double s) {
    const double reach = room - t * s;
    return reach > 0 ? normal_cdf(reach - shift) - normal_cdf(-reach - shift) : 0.0;
  });
}

uint64_t fewest(uint64_t least, uint64_t most, const std::function<bool(uint64_t)>& enough) {
  uint64_t low = least, high = least;
  while (!enough(high)) {
    if (high >= most) return 0;
    low = high;
    high = std::min(most, 2 * std::max<uint64_t>(high, 1));
  }
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

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
                     number_text(std::round(1e6 * rising(0)) / 1e6));
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

}  // namespace stab::statistics
