#include "analysis/report/contrasts/judged_estimate.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/looks/bets.h"

namespace stab::report {

JudgedEstimate::Ends JudgedEstimate::ends(double t_level, double alpha) const {
  constexpr double kExact = 1e-4;  // below it 1 - tail loses digits; above it reports keep those that they have always had
  const double tail = t_level / 2;
  const double half =
      (tail < kExact ? statistics::t_quantile_upper(tail, test_.df) : statistics::t_quantile(1 - tail, test_.df)) *
      test_.standard_error;
  const Ends of_t{test_.estimate - half, test_.estimate + half};
  if (!is_bet_on()) return of_t;
  const statistics::BetEnds wide = statistics::widened_by_bets(draws_, levels_.mixture(), alpha, {of_t.low, of_t.high});
  return {wide.low, wide.high};
}

double JudgedEstimate::p() const {
  const double of_t = levels_.p(test_.p_value);
  if (!is_bet_on()) return of_t;
  statistics::Bets bets(0, levels_.mixture());
  for (const double draw : draws_) bets.add(draw);
  return std::max(of_t, std::min(1.0, 2 * std::exp(-std::max(bets.log_above(), bets.log_below()))));
}

double JudgedEstimate::one_sided(double value, bool above) const {
  const double statistic = (test_.estimate - value) / test_.standard_error;
  const double nominal = statistics::t_upper(above ? statistic : -statistic, test_.df);
  const double of_t = nominal >= 0.5 ? nominal : levels_.p(2 * nominal) / 2;
  if (!is_bet_on()) return of_t;
  statistics::Bets bets(value, levels_.mixture());
  for (const double draw : draws_) bets.add(draw);
  return std::max(of_t, std::min(1.0, std::exp(-(above ? bets.log_above() : bets.log_below()))));
}

}  // namespace stab::report
