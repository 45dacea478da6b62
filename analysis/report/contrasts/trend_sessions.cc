#include "analysis/report/contrasts/trend_sessions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::report {
namespace {

using statistics::SessionDifference;

constexpr double kConf = 0.95;
// With two, sd could be anything: an interval would be ten times as wide.
constexpr size_t kFewestRepeats = 3;
// A step says less, as it may be a change.
constexpr size_t kFewestSteps = 5;
constexpr double kChanged = 0.1;

std::vector<SessionDifference> as_sessions(const std::vector<statistics::ArmRepeat>& repeats) {
  std::vector<SessionDifference> out;
  for (const statistics::ArmRepeat& one : repeats) out.push_back({one.difference, one.standard_error, one.df});
  return out;
}

}  // namespace

LineSessions sessions_of(const statistics::ArmNetwork& network, std::span<const SessionDifference> controls) {
  LineSessions out;
  std::vector<SessionDifference> known = as_sessions(network.repeats());
  out.known.repeats = known.size();
  out.known.controls = controls.size();
  known.insert(known.end(), controls.begin(), controls.end());
  if (known.size() >= kFewestRepeats) {
    const Result<statistics::BetweenSessions> between = statistics::between_sessions(known, kConf);
    if (!between) return out;
    out.known.source = TrendSessions::Source::kRepeats;
    out.known.sd = between->sd;
    out.known.low = between->low;
    out.known.high = between->high;
    out.known.p_value = between->p_value;
    out.spread.emplace(known);
    return out;
  }
  const std::vector<SessionDifference> steps = as_sessions(network.steps());
  out.known.steps = steps.size();
  if (steps.size() < kFewestSteps || !statistics::check_sessions(steps)) return out;
  out.known.source = TrendSessions::Source::kSteps;
  out.spread.emplace(steps, kChanged);
  constexpr double kMiddle = 0.5;
  out.known.sd = out.spread->quantile(kMiddle);
  out.known.low = out.spread->quantile((1 - kConf) / 2);
  out.known.high = out.spread->quantile((1 + kConf) / 2);
  return out;
}

std::vector<size_t> session_numbers(const std::vector<SeriesPart>& parts) {
  std::vector<size_t> out(parts.size());
  std::iota(out.begin(), out.end(), size_t{0});
  for (size_t i = 0; i < parts.size(); ++i)
    for (const TrendSession& session : parts[i].sessions) {
      if (session.day.empty()) continue;
      for (size_t earlier = 0; earlier < i; ++earlier) {
        const std::vector<TrendSession>& of = parts[earlier].sessions;
        if (out[earlier] == out[i] || std::find(of.begin(), of.end(), session) == of.end()) continue;
        const size_t from = std::max(out[i], out[earlier]), to = std::min(out[i], out[earlier]);
        std::replace(out.begin(), out.end(), from, to);
      }
    }
  return out;
}

TrendDifference::TrendDifference(const statistics::ArmNetwork& network, const LineSessions& sessions, size_t a, size_t b)
    : within_(network.difference(a, b, kConf)) {
  constexpr double kFewestDf = 2;
  const double share = std::sqrt(network.session_share(a, b));
  if (!sessions.spread || !(share > 0)) return;
  // Of so few degrees of freedom that a t has no variance: as many as have one.
  widened_ = sessions.spread->widened(within_.standard_error / share, std::max(within_.df, kFewestDf + 0.1));
  widened_->scale *= share;
}

statistics::TTest TrendDifference::within(double conf) const {
  return statistics::t_test_of(within_.estimate, within_.standard_error, within_.df, 0, statistics::Alternative::kTwoSided, conf);
}

statistics::TTest TrendDifference::test(double mu, statistics::Alternative alternative, double conf) const {
  const auto by = [&](double error, double df) {
    return statistics::t_test_of(within_.estimate, error, df, mu, alternative, conf);
  };
  const auto reach = [&](double error, double df) { return error * statistics::t_quantile_upper((1 - conf) / 2, df); };
  statistics::TTest blocks = by(within_.standard_error, within_.df);
  if (!widened_) return blocks;
  statistics::TTest wide = by(widened_->scale, widened_->df);
  const double p = std::max(blocks.p_value, wide.p_value);
  const bool is_wider = reach(widened_->scale, widened_->df) > reach(within_.standard_error, within_.df);
  statistics::TTest out = is_wider ? wide : blocks;
  out.p_value = p;
  return out;
}

}  // namespace stab::report
