#include "analysis/statistics/looks/between_sessions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/distributions/root.h"

namespace stab::statistics {
namespace {

// From here on a t is a normal distribution to ten digits, and the difference of two log gammas has lost them.
constexpr double kNormalDf = 1e9;

double sum_of_squares(std::span<const SessionDifference> controls, double variance) {
  double sum = 0;
  for (const SessionDifference& one : controls)
    sum += one.difference * one.difference / (one.standard_error * one.standard_error * one.df / (one.df - 2) + variance);
  return sum;
}

// The sd at which the sum is `target`; 0 where it is below that without any.
double sd_where(std::span<const SessionDifference> controls, double target) {
  if (sum_of_squares(controls, 0) <= target) return 0;
  double squares = 0;
  for (const SessionDifference& one : controls) squares += one.difference * one.difference;
  // Without any error within sessions the sum were squares / variance: there it is at most the target.
  const double most = squares / target;
  RootStop stop;
  stop.width = 1e-13;
  return std::sqrt(falling_root([&](double variance) { return sum_of_squares(controls, variance) - target; }, 0, most, stop));
}

double satterthwaite_df(double standard_error, double df, double variance) {
  const double ratio = variance / (standard_error * standard_error);
  return std::min(df * ratio * ratio, kNormalDf);
}

// The logarithm of the density of a difference that is a control's but for the probability `changed`.
double log_density(const SessionDifference& one, double sd, double changed, double size) {
  const double alike = SessionDensity(one, sd).log_at(0);
  if (!(changed > 0)) return alike;
  constexpr double kAnything = 10;
  const double other = SessionDensity(one, std::hypot(sd, kAnything * size)).log_at(0);
  const double a = std::log1p(-changed) + alike, b = std::log(changed) + other;
  return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

}  // namespace

// On a logarithmic grid around where the density is. A flat prior of sd is sd itself on the scale of its logarithm.
SessionSpread::SessionSpread(std::span<const SessionDifference> controls, double changed) {
  double size = 0;
  for (const SessionDifference& one : controls) size = std::max({size, std::fabs(one.difference), one.standard_error});
  const auto log_of = [&](double log_sd) {
    double sum = log_sd;
    for (const SessionDifference& one : controls) sum += log_density(one, std::exp(log_sd), changed, size);
    return sum;
  };
  constexpr double kBelow = 12, kAbove = 8;  // of the largest number, in nats: what is left out is a hundred-thousandth
  const double from = std::log(size) - kBelow, to = std::log(size) + kAbove;
  constexpr int kCoarse = 60, kFine = 60;
  std::vector<double> coarse(kCoarse + 1);
  for (int i = 0; i <= kCoarse; ++i) coarse[static_cast<size_t>(i)] = log_of(from + (to - from) * i / kCoarse);
  const double top = *std::max_element(coarse.begin(), coarse.end());
  constexpr double kNegligible = 14;  // nats below the highest
  int first = 0, last = kCoarse;
  while (first < kCoarse && coarse[static_cast<size_t>(first)] < top - kNegligible) ++first;
  while (last > 0 && coarse[static_cast<size_t>(last)] < top - kNegligible) --last;
  const double low = from + (to - from) * std::max(0, first - 1) / kCoarse;
  const double high = from + (to - from) * std::min(kCoarse, last + 1) / kCoarse;
  double sum = 0;
  for (int i = 0; i <= kFine; ++i) {
    const double log_sd = low + (high - low) * i / kFine;
    values_.push_back({std::exp(log_sd), std::exp(log_of(log_sd) - top)});
    sum += values_.back().weight;
  }
  for (Weighted& one : values_) one.weight /= sum;
}

double SessionSpread::quantile(double below) const {
  // Half of a point's weight lies on either side of it.
  double before = 0;
  for (size_t i = 0; i + 1 < values_.size(); ++i) {
    const double between = (values_[i].weight + values_[i + 1].weight) / 2;
    const double here = before + (i == 0 ? values_[0].weight / 2 : 0);
    if (below <= here + between) {
      const double share = between > 0 ? std::clamp((below - here) / between, 0.0, 1.0) : 0;
      return values_[i].sd * std::pow(values_[i + 1].sd / values_[i].sd, share);
    }
    before = here + between;
  }
  return values_.back().sd;
}

SessionDifference pooled(std::span<const SessionDifference> of_one_session) {
  SessionDifference out;
  double weights = 0;
  for (const SessionDifference& one : of_one_session) {
    const double weight = 1 / (one.standard_error * one.standard_error);
    weights += weight;
    out.difference += weight * one.difference;
    out.df += one.df;
  }
  out.difference /= weights;
  out.standard_error = 1 / std::sqrt(weights);
  return out;
}

Status check_sessions(std::span<const SessionDifference> sessions) {
  for (const SessionDifference& one : sessions) {
    if (!std::isfinite(one.difference) || !std::isfinite(one.df) || !std::isfinite(one.standard_error) ||
        !(one.standard_error > 0))
      return bad_input("a session's difference has no standard error above 0");
    if (!(one.df > 2)) return bad_input("a session's standard error has 2 degrees of freedom or fewer; it needs 4 blocks");
  }
  return {};
}

Result<BetweenSessions> between_sessions(std::span<const SessionDifference> controls, double conf) {
  constexpr size_t kFewest = 2;
  if (controls.size() < kFewest) return bad_input("what lies between sessions needs two of them");
  STAB_CHECK_OK(check_sessions(controls));
  const auto count = static_cast<double>(controls.size());
  BetweenSessions out;
  out.sessions = controls.size();
  out.q = sum_of_squares(controls, 0);
  out.p_value = chi_squared_upper(out.q, count);
  out.sd = sd_where(controls, count);
  out.low = sd_where(controls, chi_squared_quantile_upper((1 - conf) / 2, count));
  out.high = sd_where(controls, chi_squared_quantile((1 - conf) / 2, count));
  return out;
}

SessionDensity::SessionDensity(const SessionDifference& session, double sd)
    : difference_(session.difference),
      variance_(session.standard_error * session.standard_error + sd * sd),
      df_(satterthwaite_df(session.standard_error, session.df, variance_)),
      log_constant_(df_ >= kNormalDf ? -std::log(2 * std::numbers::pi * variance_) / 2
                                     : log_gamma((df_ + 1) / 2) - log_gamma(df_ / 2) -
                                           std::log(df_ * std::numbers::pi * variance_) / 2) {}

double SessionDensity::log_at(double truth) const {
  const double squared = (difference_ - truth) * (difference_ - truth) / variance_;
  return log_constant_ - (df_ >= kNormalDf ? squared / 2 : (df_ + 1) / 2 * std::log1p(squared / df_));
}

double SessionDensity::weight_at(double truth) const {
  if (df_ >= kNormalDf) return 1 / variance_;
  return (df_ + 1) / (df_ * variance_ + (difference_ - truth) * (difference_ - truth));
}

WidenedError widened_error(std::span<const SessionDifference> controls, double standard_error, double df) {
  return SessionSpread(controls).widened(standard_error, df);
}

namespace {

// A mixture of t distributions around 0.
struct MixturePart {
  double weight = 0, variance = 0, df = 0;
};

// The logarithm of its upper tail at `x`, and about its slope by log x. The slope takes the t's constant as
// (1 - 1 / (4 df)) / sqrt(2 pi), which is a hundredth off at most: it says where to look next, not what is there.
struct Tail {
  double log_upper = 0, slope = 0;
};
Tail tail_at(std::span<const MixturePart> parts, double x) {
  double upper = 0, density = 0;
  for (const MixturePart& part : parts) {
    const double t = x / std::sqrt(part.variance);
    const bool is_normal = part.df >= kNormalDf;
    upper += part.weight * (is_normal ? normal_upper(t) : t_upper_fast(t, part.df));
    const double height = is_normal ? std::exp(-t * t / 2) : std::exp(-(part.df + 1) / 2 * std::log1p(t * t / part.df));
    density += part.weight * t * height * (1 - 1 / (4 * part.df)) / std::sqrt(2 * std::numbers::pi);
  }
  return {std::log(upper), -density / upper};
}

// Newton's steps on the logarithm of x, where a tail is nearly straight, within a bracket that they narrow.
double upper_quantile(std::span<const MixturePart> parts, double upper, double guess) {
  // The narrowest part's quantile is at least a normal one's, and the widest tail is that of the largest scale with the fewest
  // degrees of freedom.
  double least = std::numeric_limits<double>::infinity(), most = 0, fewest = kNormalDf;
  for (const MixturePart& part : parts) {
    least = std::min(least, part.variance);
    most = std::max(most, part.variance);
    fewest = std::min(fewest, part.df);
  }
  double low = std::log(least) / 2 + std::log(t_quantile_upper_fast(upper, kNormalDf));
  double high = std::log(most) / 2 + std::log(t_quantile_upper_fast(upper, fewest));
  double at = std::clamp(std::log(guess), low, high);
  constexpr int kMostSteps = 100;
  constexpr double kAlike = 1e-9;
  for (int step = 0; step < kMostSteps && high - low > kAlike; ++step) {
    const Tail tail = tail_at(parts, std::exp(at));
    const double excess = tail.log_upper - std::log(upper);
    if (std::fabs(excess) < kAlike) break;
    (excess > 0 ? low : high) = at;
    const double next = at - excess / tail.slope;
    at = next > low && next < high ? next : (low + high) / 2;
  }
  return std::exp(at);
}

}  // namespace

WidenedError SessionSpread::widened(double standard_error, double df) const {
  std::vector<MixturePart> parts;
  double last = 0;  // the first variance of the last part
  for (const Weighted& one : values_) {
    const double variance = standard_error * standard_error + one.sd * one.sd;
    // Where sd is next to nothing all parts are one.
    constexpr double kNothing = 1e-9, kAlike = 1.002;
    if (!parts.empty() && variance < kAlike * last) {
      MixturePart& part = parts.back();
      part.variance += (variance - part.variance) * one.weight / (part.weight + one.weight);
      part.weight += one.weight;
    } else if (one.weight > kNothing) {
      parts.push_back({one.weight, variance, 0});
      last = variance;
    }
  }
  double mean = 0;
  for (MixturePart& part : parts) {
    part.df = satterthwaite_df(standard_error, df, part.variance);
    mean += part.weight * std::sqrt(part.variance);
  }
  constexpr double kNear = 0.025, kFar = 0.0005;
  const double near = upper_quantile(parts, kNear, mean * t_quantile_upper_fast(kNear, df));
  const double far = upper_quantile(parts, kFar, near * t_quantile_upper_fast(kFar, df) / t_quantile_upper_fast(kNear, df));
  // By 1 / df the logarithm of this is nearly straight, for normal tails and for heavy ones.
  const auto short_of = [&](double inverse) {
    return std::log(far / near * t_quantile_upper_fast(kNear, 1 / inverse) / t_quantile_upper_fast(kFar, 1 / inverse));
  };
  WidenedError out;
  constexpr double kFewestDf = 0.5;
  out.df = short_of(1 / kNormalDf) <= 0   ? kNormalDf
           : short_of(1 / kFewestDf) >= 0 ? kFewestDf
                                          : 1 / falling_root(short_of, 1 / kNormalDf, 1 / kFewestDf,
                                                             {.width = 1e-12, .residual = 1e-10});
  out.scale = near / t_quantile_upper(kNear, out.df);
  return out;
}

}  // namespace stab::statistics
