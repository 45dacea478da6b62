// Evidence that a commit is slower, over sessions and over a stream of commits.
//
// An e-value is a number that is not negative and whose mean is at most 1 where the hypothesis is true; so it is 1/a or more with
// probability a at most. docs/explanation/sessions.md has why these are valid, and when a commit may be asked about again.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/statistics/looks/between_sessions.h"

namespace stab::statistics {

// The logarithm of an e-value of "the true difference of these gates is 0 or below", whatever the sd between sessions is: the
// likelihood of gates and controls together, averaged over a prior of (difference, sd), by its largest value under the hypothesis
// ("universal inference": Wasserman, Ramdas & Balakrishnan, PNAS 117(29), 2020; its running form is an e-process). It may be
// asked after each session. The prior: the difference is half-Cauchy with `margin` as its scale, sd one of 22 values up to two
// margins, 0 among them. Each gate and each control is of another session. -0.0 to 0 where there are no gates. pre: margin > 0,
// check_sessions() of both
double log_e_value(std::span<const SessionDifference> gates, std::span<const SessionDifference> controls, double margin);

// log of the mean of e-values, given by their logarithms: it is an e-value of "all of their hypotheses are true". pre: some
double log_mean_e_value(std::span<const double> logs);

// e-LOND (Xu & Ramdas, "Online multiple testing with e-values", AISTATS 2024): hypothesis t is rejected where
// e >= 1 / (rate * share(t) * (rejected before + 1)); the false discovery rate is then at most `rate` over the whole stream.
struct Stream {
  double rate = 0.05;     // of false ones among all that are called worse
  uint64_t tests = 500;   // so many hypotheses have equal shares
};
// Of hypothesis `number`, from 1 on: 1 / 2N for the first N = tests, N / 2t(t-1) for the t-th after them. All of them add up
// to 1.
double share_of(const Stream& stream, uint64_t number);
// log of the e-value that is enough.
double log_e_needed(const Stream& stream, uint64_t number, uint64_t rejected_before);

}  // namespace stab::statistics
