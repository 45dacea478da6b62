// Boundaries by recursive integration (Armitage, McPherson & Rowe 1969). Between looks the statistic
// S_k = Z_k sqrt(t_k) is a random walk with independent normal steps; the density of having continued so far is
// kept on a grid and carried to the next look.
#include "analysis/statistics/looks/alpha_spending.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/distributions/root.h"
#include "analysis/statistics/looks/spending_curve.h"

namespace stab::statistics {
namespace {

// The density of S at a look, over the values at which the trial goes on. Simpson's rule on an odd number of
// points.
struct Walk {
  double time = 0;
  std::vector<double> at, mass;  // points and density times Simpson weight; empty: not started (S = 0 at time 0)
};

constexpr double kFewestPairs = 200, kMostPairs = 2000;  // of steps of the grid
constexpr double kFar = 9;  // one-sided: where the open side ends, in standard deviations

// P(continuing so far, and S_next > x).
double crossing(const Walk& walk, double time, double x, bool one_sided) {
  const double sd = std::sqrt(time - walk.time);
  const auto beyond = [&](double from) {
    const double up = normal_upper((x - from) / sd);
    return one_sided ? up : up + normal_upper((x + from) / sd);
  };
  if (walk.at.empty()) return beyond(0);
  double sum = 0;
  for (size_t i = 0; i < walk.at.size(); ++i) sum += walk.mass[i] * beyond(walk.at[i]);
  return sum;
}

// next: the look after it, whose step the grid must not be coarser than.
Walk advance(const Walk& walk, double time, double bound, bool one_sided, double next) {
  const double sd = std::sqrt(time - walk.time);
  const double high = bound, low = one_sided ? -kFar * std::sqrt(time) : -bound;
  // Four steps to a standard deviation of what comes next: at the bound that is how wide a layer is that crosses.
  const double wanted = std::ceil(2 * (high - low) / std::sqrt(next - time));
  const int steps = 2 * static_cast<int>(std::clamp(wanted, kFewestPairs, kMostPairs));
  const double step = (high - low) / steps;
  Walk reached;
  reached.time = time;
  for (int i = 0; i <= steps; ++i) {
    const double s = low + i * step;
    double density = 0;
    if (walk.at.empty()) density = normal_density(s / sd) / sd;
    for (size_t j = 0; j < walk.at.size(); ++j) density += walk.mass[j] * normal_density((s - walk.at[j]) / sd) / sd;
    const double weight = i == 0 || i == steps ? 1 : (i % 2 == 1 ? 4 : 2);
    reached.at.push_back(s);
    reached.mass.push_back(density * weight * step / 3);
  }
  return reached;
}

double spent_by(Spending spending, double t, double alpha, bool one_sided) {
  if (spending == Spending::kPocock) return alpha * std::log1p((std::exp(1.0) - 1) * t);
  // Each side has the curve of a one-sided test with its share of alpha.
  const double sides = one_sided ? 1 : 2;
  return sides * 2 * normal_upper(normal_quantile(1 - alpha / sides / 2) / std::sqrt(t));
}

// The bound on S at which exactly `target` more is spent.
double bound_for(const Walk& walk, double time, double target, bool one_sided) {
  constexpr double kLeastSpent = 1e-300;  // a look that may spend less than that never stops
  const double far = 40 * std::sqrt(time);
  if (!(target > kLeastSpent)) return far;
  // The log of a tail area is close to a parabola in the bound.
  const auto excess = [&](double x) { return std::log(std::max(crossing(walk, time, x, one_sided), kLeastSpent) / target); };
  return falling_root(excess, 0, far, {.width = 1e-13});
}

std::vector<Look> classic(Spending spending, std::span<const double> fractions, double alpha, bool one_sided) {
  std::vector<Look> looks(fractions.size());
  const auto with = [&](double c) {
    Walk walk;
    double spent = 0;
    for (size_t k = 0; k < fractions.size(); ++k) {
      const double t = fractions[k];
      const double z = spending == Spending::kClassicPocock ? c : c / std::sqrt(t);
      spent += crossing(walk, t, z * std::sqrt(t), one_sided);
      looks[k] = {t, z, (one_sided ? 1 : 2) * normal_upper(z), spent};
      if (k + 1 < fractions.size()) walk = advance(walk, t, z * std::sqrt(t), one_sided, fractions[k + 1]);
    }
    return spent;
  };
  // The log of what is spent is close to a parabola in c.
  const auto excess = [&](double c) { return std::log(std::max(with(c), 1e-300) / alpha); };
  with(falling_root(excess, 0.5, 12, {.width = 1e-11, .residual = 1e-12}));
  return looks;
}

Status check_fractions(std::span<const double> fractions) {
  if (fractions.empty()) return bad_input("no looks are given");
  if (fractions.size() > 50) return bad_input("more than 50 looks: that is watching, not looking");
  for (size_t k = 0; k < fractions.size(); ++k)
    if (!(fractions[k] > (k ? fractions[k - 1] : 0)) || fractions[k] > 1)
      return bad_input("looks must be ascending fractions of the information, in (0, 1]");
  return {};
}

}  // namespace

Result<std::vector<Look>> looks_that_spend(std::span<const double> spent, std::span<const double> fractions, bool one_sided) {
  STAB_CHECK_OK(check_fractions(fractions));
  if (spent.size() != fractions.size()) return bad_input("each look needs what is spent up to it");
  std::vector<Look> looks;
  Walk walk;
  double before = 0;
  for (size_t k = 0; k < fractions.size(); ++k) {
    if (!(spent[k] >= before && spent[k] < 0.5)) return bad_input("what is spent must ascend, from 0 to less than 0.5");
    const double t = fractions[k];
    const double bound = bound_for(walk, t, spent[k] - before, one_sided);
    const double z = bound / std::sqrt(t);
    looks.push_back({t, z, (one_sided ? 1 : 2) * normal_upper(z), spent[k]});
    before = spent[k];
    if (k + 1 < fractions.size()) walk = advance(walk, t, bound, one_sided, fractions[k + 1]);
  }
  return looks;
}

Result<std::vector<Look>> alpha_spending(Spending spending, std::span<const double> fractions, double alpha,
                                         bool one_sided) {
  STAB_CHECK_OK(check_fractions(fractions));
  if (!(alpha > 0 && alpha < 0.5)) return bad_input("alpha must lie between 0 and 0.5");
  if (spending == Spending::kClassicObrienFleming || spending == Spending::kClassicPocock)
    return classic(spending, fractions, alpha, one_sided);
  std::vector<double> spent;
  for (const double t : fractions) spent.push_back(std::min(alpha, spent_by(spending, t, alpha, one_sided)));
  return looks_that_spend(spent, fractions, one_sided);
}

}  // namespace stab::statistics
