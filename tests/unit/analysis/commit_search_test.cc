// The search for a commit: whatever the commits do, and although answers are wrong, it ends at one that made the program slower.
#include "analysis/commands/bisect/commit_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using commands::CommitSearch;
using commands::CostEstimate;

// The costs of the commits, the good one's first; NAN: can't be judged.
using Costs = std::vector<double>;

struct Ended {
  size_t last = 0;  // the commit that was compared with the one before it; 0: none was
  size_t questions = 0;
  CommitSearch::Range range;
};

// Until a commit would be named, by answers with this error.
Ended search(const Costs& costs, double error, Rng& rng) {
  const auto measured = [&](size_t position) {
    return CostEstimate{costs[position] + error * standard_normal(rng), error};
  };
  CommitSearch search(costs.size() - 1, measured(costs.size() - 1), costs.back() / 4);
  Ended out;
  for (auto next = search.next(); next; next = search.next()) {
    if (next->is_last) {
      out.last = next->position;
      break;
    }
    if (std::isnan(costs[next->position]))
      search.leave_out(next->position);
    else
      search.take(next->position, measured(next->position));
    if (++out.questions > 2 * costs.size()) {
      ADD_FAILURE() << "it asks more often than there are commits";
      break;
    }
  }
  out.range = search.range(0.95);
  return out;
}

Costs one_step(size_t count, size_t culprit) {
  Costs costs(count + 1, 0.0);
  for (size_t at = culprit; at <= count; ++at) costs[at] = 1;
  return costs;
}

TEST(CommitSearch, FindsEachCulpritInTheLogarithmOfTheirNumber) {
  Rng rng(6);
  for (const size_t count : {1, 2, 3, 7, 8, 9, 64, 100})
    for (size_t culprit = 1; culprit <= count; ++culprit) {
      const Ended ended = search(one_step(count, culprit), 0.02, rng);
      EXPECT_EQ(ended.last, culprit) << "of " << count;
      EXPECT_LT(ended.range.not_slower, culprit) << "of " << count;
      EXPECT_GE(ended.range.slower, culprit) << "of " << count;
      EXPECT_LE(ended.questions, commands::questions_of(count)) << "of " << count;
    }
}

TEST(CommitSearch, EndsAtAStepUpWhateverTheCommitsDo) {
  Rng rng(7);
  for (int round = 0; round < 500; ++round) {
    const size_t count = 1 + rng.below(60);
    Costs costs = one_step(count, count);
    for (size_t at = 1; at < count; ++at) costs[at] = rng.below(2) == 0 ? 0 : 1;
    const Ended ended = search(costs, 0.02, rng);
    ASSERT_GT(ended.last, 0u);
    EXPECT_GT(costs[ended.last], costs[ended.last - 1]);
  }
}

// Far more slower between than at the end, or far faster.
TEST(CommitSearch, KnowsCostsFarOutsideOfThoseOfTheEnds) {
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    const size_t count = 8 + rng.below(60), first = 1 + rng.below(count - 2), then = first + 1 + rng.below(count - first);
    Costs costs(count + 1, 0.0);
    for (size_t at = first; at <= count; ++at) costs[at] = at >= then ? 1 : round % 2 == 0 ? 20 : -20;
    const Ended ended = search(costs, 0.05, rng);
    ASSERT_GT(ended.last, 0u) << round;
    EXPECT_GT(costs[ended.last], costs[ended.last - 1]) << round;
  }
}

TEST(CommitSearch, WhatCantBeJudgedIsLeftOut) {
  Rng rng(8);
  int unnamed = 0;
  for (int round = 0; round < 500; ++round) {
    const size_t count = 1 + rng.below(40), culprit = 1 + rng.below(count);
    Costs costs = one_step(count, culprit);
    for (size_t at = 1; at < count; ++at)
      if (rng.below(3) == 0) costs[at] = NAN;
    const Ended ended = search(costs, 0.02, rng);
    EXPECT_LT(ended.range.not_slower, culprit);
    EXPECT_GE(ended.range.slower, culprit);
    // Both could be asked about, or neither the one nor the other.
    const bool is_between = !std::isnan(costs[culprit]) && !std::isnan(costs[culprit - 1]);
    EXPECT_EQ(ended.last, is_between ? culprit : 0);
    unnamed += !is_between;
  }
  EXPECT_GT(unnamed, 100);
}

// With an error of a third of the step the first answers are wrong now and then, and what comes later leads back.
TEST(CommitSearch, FindsItsWayBackFromAWrongAnswer) {
  Rng rng(9);
  int right = 0, held = 0;
  constexpr int kSearches = 300;
  for (int round = 0; round < kSearches; ++round) {
    const size_t culprit = 1 + rng.below(64);
    const Ended ended = search(one_step(64, culprit), 1.0 / 3, rng);
    right += ended.last == culprit;
    held += ended.range.not_slower < culprit && culprit <= ended.range.slower;
  }
  // A plain bisection has six answers, each wrong in 9.7 % with a threshold of half of what the ends seem to be apart.
  EXPECT_GE(right, kSearches * 70 / 100);
  EXPECT_GE(held, kSearches * 92 / 100);
}

// One wrong answer of many that are right is not believed: in the middle, where everything after it depends on it.
TEST(CommitSearch, OverrulesOneWrongAnswer) {
  constexpr size_t kCommits = 64, kCulprit = 50;
  CommitSearch search(kCommits, {1, 0.25}, 0.25);
  size_t asked = 0;
  auto next = search.next();
  for (; next && !next->is_last && asked < 20; next = search.next(), ++asked) {
    const double cost = next->position >= kCulprit ? 1 : 0;
    search.take(next->position, {asked == 0 ? 0.62 : cost, 0.25});
  }
  for (int steps = 0; next && next->position != kCulprit && asked < 30; ++asked, next = search.next()) {
    const double cost = next->position >= kCulprit ? 1 : 0;
    if (next->is_last) {
      search.take_step(next->position, {0, 0.25});
      EXPECT_LE(++steps, 2);
    } else {
      search.take(next->position, {cost, 0.25});
    }
  }
  ASSERT_TRUE(next && next->is_last);
  EXPECT_EQ(next->position, kCulprit);
}

// All paths of costs of three commits, weighed one by one: the recursion's sums.
TEST(CommitSearch, AgreesWithTheSumOverAllPaths) {
  constexpr int kBelow = 40, kCosts = 101, kLeast = 5;
  constexpr size_t kCommits = 3;
  const CostEstimate at_one{0.3, 0.4}, at_two{0.4, 0.3}, ends{1, 0.2}, step{0.35, 0.3};
  CommitSearch search(kCommits, ends, 0.25);
  search.take(1, at_one);
  search.take(2, at_two);
  search.take_step(2, step);
  const auto density = [](const CostEstimate& of, double change) {
    const double sd = of.error * 20, z = (of.change * 20 - change) / sd;
    return 0.99 * std::exp(-z * z / 2) / (sd * std::sqrt(2 * M_PI)) + 0.01 / kCosts;
  };
  const auto moved = [](int from, int to) { return (from == to ? 2.0 / 3 : 0) + 1.0 / 3 / kCosts; };
  double all = 0, up[kCommits] = {}, any_of_first_two = 0;
  for (int one = 0; one < kCosts; ++one)
    for (int two = 0; two < kCosts; ++two)
      for (int three = 0; three < kCosts; ++three) {
        const double weight = moved(kBelow, one) * density(at_one, one - kBelow) * moved(one, two) *
                              density(at_two, two - kBelow) * density(step, two - one) * moved(two, three) *
                              density(ends, three - kBelow);
        const bool is_up[] = {one - kBelow >= kLeast, two - one >= kLeast, three - two >= kLeast};
        all += weight;
        for (size_t i = 0; i < kCommits; ++i) up[i] += is_up[i] ? weight : 0;
        any_of_first_two += is_up[0] || is_up[1] ? weight : 0;
      }
  const auto next = search.next();
  const size_t likeliest = static_cast<size_t>(std::max_element(std::begin(up), std::end(up)) - up);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->position, likeliest + 1);
  const CommitSearch::Range least = search.range(0);
  EXPECT_EQ(least.slower, likeliest + 1);
  EXPECT_NEAR(least.probability, up[likeliest] / all, 1e-9);
  const CommitSearch::Range whole = search.range(2);
  EXPECT_EQ(whole.not_slower, 0u);
  EXPECT_EQ(whole.slower, kCommits);
  EXPECT_GT(whole.probability, any_of_first_two / all);
  EXPECT_LE(whole.probability, 1);
  for (size_t i = 0; i < kCommits; ++i) EXPECT_NEAR(search.probability_between(i, i + 1), up[i] / all, 1e-9);
}

// An error of nothing, or one that is larger than everything, breaks no sum.
TEST(CommitSearch, HasNumbersForAllErrors) {
  Rng rng(10);
  for (const double error : {0.0, 1e-12, 1e6}) {
    CommitSearch search(32, {1e-3, error}, 1e-9);
    for (int i = 0; i < 12; ++i) {
      const auto next = search.next();
      if (!next) break;
      const double cost = rng.below(3) == 0 ? -5 : 1e-3;
      if (next->is_last)
        search.take_step(next->position, {cost, error});
      else
        search.take(next->position, {cost, error});
      const CommitSearch::Range range = search.range(0.95);
      EXPECT_LT(range.not_slower, range.slower) << error;
      EXPECT_TRUE(range.probability >= 0 && range.probability <= 1) << error << " " << range.probability;
    }
  }
}

}  // namespace
}  // namespace stab::analysis
