// How far equal programs differ between sessions (machine, boot, day) beyond what the blocks of each session say.
//
// Of session i an A/A control has found y_i with the standard error se_i on df_i degrees of freedom. Both sides are the same
// program:
//
//   y_i = u_i + e_i,   u_i ~ N(0, sd^2),   e_i / se_i ~ t(df_i)
//
// The mean is known to be 0 and is not estimated, so a bias that is the same every night counts as sd, too.
// docs/explanation/sessions.md has the reasons.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

// What one session has found. On the log scale for ratios.
struct SessionDifference {
  double difference = 0, standard_error = 0, df = 0;
};

// Of the same session: their mean, weighted by 1 / se^2, on the sum of their degrees of freedom. pre: not empty
SessionDifference pooled(std::span<const SessionDifference> of_one_session);

// Finite numbers, standard errors above 0, more than 2 degrees of freedom: of fewer a t has no variance.
Status check_sessions(std::span<const SessionDifference> sessions);

struct BetweenSessions {
  size_t sessions = 0;
  double sd = 0;            // Paule and Mandel (1982), with a known mean
  double low = 0, high = 0;  // the Q profile's ends (Viechtbauer, Statistics in Medicine 26, 2007)
  double q = 0;             // sum of squares at sd 0: chi-squared on `sessions` degrees of freedom if there is none
  double p_value = 1;       // of that
};
// Refuses fewer than 2 sessions, and what check_sessions() refuses.
Result<BetweenSessions> between_sessions(std::span<const SessionDifference> controls, double conf);

// The error of one more session's difference, as a t distribution of this scale. Infinite df: normal.
struct WidenedError {
  double scale = 0, df = 0;
};

// What the controls leave possible of sd: its density under them, with a flat prior.
//
// `changed` is for differences that need not be controls: each one is, but for this probability, and is otherwise normal with ten
// times the largest number as its sd, which can be anything. So a few large ones don't count as what lies between sessions.
class SessionSpread {
 public:
  // pre: check_sessions(controls), and 3 of them; 0 <= changed < 1
  explicit SessionSpread(std::span<const SessionDifference> controls, double changed = 0);
  // Averaged over sd: the t that has the mixture's upper quantiles at 2.5 % and at 0.05 %. pre: standard_error > 0, df > 2
  WidenedError widened(double standard_error, double df) const;
  // The sd that has so much of its probability below it: with a uniform number a random one.
  double quantile(double below) const;

 private:
  struct Weighted {
    double sd = 0, weight = 0;  // weights add up to 1
  };
  std::vector<Weighted> values_;  // ascending
};

// SessionSpread(controls).widened(standard_error, df)
WidenedError widened_error(std::span<const SessionDifference> controls, double standard_error, double df);

// The density of a session's difference where `sd` lies between sessions. The sum of u and e is taken as a t whose scale is the
// root of se^2 + sd^2, with Satterthwaite's degrees of freedom.
class SessionDensity {
 public:
  SessionDensity(const SessionDifference& session, double sd);
  double log_at(double truth) const;  // where the true difference is `truth`
  // The density's maximum over several sessions is at the mean of their differences with these weights, taken there.
  double weight_at(double truth) const;

 private:
  double difference_, variance_, df_, log_constant_;
};

}  // namespace stab::statistics
