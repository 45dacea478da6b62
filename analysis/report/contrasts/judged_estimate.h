// What a look makes of an estimate: its intervals, and one-sided p-values against any value.
//
// A fixed plan and declared looks judge by t at a level of their own. So does a confidence sequence; but t of few values bears
// no skew, so where the estimate is the mean of independent draws it is judged by bets on these, too (bets.h), and
// both must agree: intervals are the wider of two, p is the larger.
#pragma once

#include <span>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::report {

class JudgedEstimate {
 public:
  struct Ends {
    double low = 0, high = 0;  // infinite where a sequence has too few draws
  };

  // draws: in the order of the run, whose mean is the estimate; empty: its error comes from elsewhere. All must outlive this.
  JudgedEstimate(const LookLevels& levels, const statistics::TTest& test, std::span<const double> draws)
      : levels_(levels), test_(test), draws_(draws) {}

  Ends interval() const { return ends(levels_.interval(), levels_.alpha()); }            // at 1 - alpha
  Ends equivalence() const { return ends(levels_.equivalence(), 2 * levels_.alpha()); }  // at 1 - 2 alpha
  // Against the test's own null value 0, two-sided.
  double p() const;
  // Of the hypothesis that the truth is at most `value`, or at least. A t's one-sided p at a look is half of what its
  // two-sided interval would have.
  double p_above(double value) const { return one_sided(value, true); }
  double p_below(double value) const { return one_sided(value, false); }

 private:
  Ends ends(double t_level, double alpha) const;
  double one_sided(double value, bool above) const;
  bool is_bet_on() const { return levels_.is_sequence() && !draws_.empty(); }

  const LookLevels& levels_;
  const statistics::TTest& test_;
  std::span<const double> draws_;
};

}  // namespace stab::report
