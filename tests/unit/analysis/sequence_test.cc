// Confidence sequences: formula against formula, and that watching them costs nothing. Rates within 4 standard errors of what
// is promised; docs/evaluation/records/calibration.md has those of 4,000 rounds (tests/bench/sequence_table.cc).
#include "analysis/statistics/looks/bets.h"
#include "analysis/statistics/looks/confidence_sequence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/report_data/report.h"
#include "tests/unit/analysis/watched_blocks.h"

namespace stab::analysis {
namespace {

constexpr double kAlpha = 0.05;
constexpr uint32_t kMost = 60;
const double kNarrowest = std::sqrt(8.0 * kMost);

report::LookLevels levels_after(uint32_t blocks) { return report::LookLevels::in_sequence(blocks, kNarrowest, kAlpha); }

double standard_normal(Rng& rng) { return statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52); }

TEST(Sequence, TheRatioIsOneOverAlphaAtTheCriticalT) {
  for (const double n : {6.0, 8.0, 22.0, 60.0, 1e6})
    for (const double alpha : {0.05, 0.1, 0.0125}) {
      const double g = statistics::mixture_narrowest_at(22, 0.05), t = statistics::sequence_critical_t(n, g, alpha);
      if (std::isinf(t)) continue;
      EXPECT_NEAR(statistics::mixture_log_ratio(t, n, g), -std::log(alpha), 1e-9) << n << " " << alpha;
    }
  // No t is enough: E stays below r^((n-1)/2) for any of them.
  const double g = statistics::mixture_narrowest_at(22, kAlpha);
  EXPECT_TRUE(std::isinf(statistics::sequence_critical_t(2, g, kAlpha)));
  EXPECT_LT(statistics::mixture_log_ratio(HUGE_VAL, 2, g), -std::log(kAlpha));
  EXPECT_NEAR(statistics::mixture_log_ratio(1e9, 8, g), statistics::mixture_log_ratio(HUGE_VAL, 8, g), 1e-6);
}

TEST(Sequence, IsNarrowestWhereItIsToldTo) {
  for (const double at : {3.0, 8.0, 22.0, 300.0}) {
    const double g = statistics::mixture_narrowest_at(at, kAlpha), best = statistics::sequence_critical_t(at, g, kAlpha);
    for (const double other : {0.5, 0.9, 1.1, 2.0}) EXPECT_LE(best, statistics::sequence_critical_t(at, other * g, kAlpha)) << at;
    // It is wider than one look's interval, and than Robbins' with known variance (1970).
    const double robbins = std::sqrt((1 + at * g) / (at * g) * (std::log1p(at * g) - 2 * std::log(kAlpha)));
    EXPECT_GT(best, robbins) << at;
  }
  // Many values: the spread is known, and both are the same.
  const double g = statistics::mixture_narrowest_at(1e7, kAlpha), n = 1e7;
  const double robbins = std::sqrt((1 + n * g) / (n * g) * (std::log1p(n * g) - 2 * std::log(kAlpha)));
  EXPECT_NEAR(statistics::sequence_critical_t(n, g, kAlpha), robbins, 1e-4);
}

// The mean of E over samples without a difference is 1 at any number of values, and stays 1 if one goes on only where it was
// small: a martingale. Its tail is heavy, so few values and a small mixture.
TEST(Sequence, TheRatioIsAMartingaleThatBeginsAtOne) {
  constexpr int kRounds = 400'000;
  constexpr double kG = 0.05;
  Rng rng = Rng::stream(21, "martingale");
  double at_four = 0, stopped = 0, squares = 0;
  for (int round = 0; round < kRounds; ++round) {
    double mean = 0, m2 = 0, first = 0, ratio = 0;
    for (int n = 1; n <= 9; ++n) {
      const double x = 3 * standard_normal(rng), delta = x - mean;
      mean += delta / n;
      m2 += delta * (x - mean);
      if (n < 2) continue;
      ratio = std::exp(statistics::mixture_log_ratio(mean / std::sqrt(m2 / (n - 1) / n), n, kG));
      if (n == 4) first = ratio;
      if (n == 4 && ratio > 1.05) break;  // stops where it looks well
    }
    at_four += first / kRounds;
    stopped += ratio / kRounds;
    squares += (ratio - 1) * (ratio - 1) / kRounds;
  }
  EXPECT_NEAR(at_four, 1, 4 * std::sqrt(squares / kRounds));
  EXPECT_NEAR(stopped, 1, 4 * std::sqrt(squares / kRounds));
  EXPECT_GT(squares, 0.01) << "a constant is no test";
}

// Of skewed values as of normal ones: what is won on average is nothing, as long as no value lies further off than is assumed.
TEST(Sequence, BetsAreAMartingaleWhateverTheShape) {
  constexpr int kRounds = 100'000;
  Rng rng = Rng::stream(26, "bets");
  double above = 0, below = 0, squares = 0;
  for (int round = 0; round < kRounds; ++round) {
    statistics::Bets bets(0, 0.05);
    // Two values only, one far more seldom: -3 and 1, of mean 0; after three of each kind nothing further can come.
    for (const double known : {-3.0, 1.0, 1.0}) bets.add(known);
    for (int n = 0; n < 8; ++n) bets.add(rng.uniform() < 0.25 ? -3 : 1);
    above += std::exp(bets.log_above()) / kRounds;
    below += std::exp(bets.log_below()) / kRounds;
    squares += std::pow(std::exp(bets.log_above()) - 1, 2) / kRounds;
  }
  const double error = std::sqrt(squares / kRounds);
  EXPECT_NEAR(above, 1, 4 * error + 1e-3);
  EXPECT_NEAR(below, 1, 0.05);
  EXPECT_GT(squares, 0.01) << "a constant is no test";
}

// A value that lies three times as far off as any before takes all of the largest stakes and no more.
TEST(Sequence, BetsSurviveWhatIsAssumed) {
  statistics::Bets bets(0, 0.2);
  for (const double value : {0.3, 0.5, 0.4, 0.6, 0.4}) bets.add(value);
  EXPECT_GT(bets.log_above(), 0) << "five values above 0";
  const double mean = 2.2 / 5;
  statistics::Bets at_the_bound = bets, beyond = bets;
  at_the_bound.add(mean - statistics::Bets::kFurther * 0.16 * 0.999);
  beyond.add(-5);
  EXPECT_TRUE(std::isfinite(at_the_bound.log_above()));
  EXPECT_LT(beyond.log_above(), bets.log_above());
  EXPECT_GT(beyond.log_below(), bets.log_below());
}

TEST(Sequence, BetsAndTheirIntervalAgree) {
  Rng rng = Rng::stream(27, "ends");
  std::vector<double> values;
  for (int i = 0; i < 25; ++i) values.push_back(std::exp(standard_normal(rng)));
  const double g = statistics::mixture_narrowest_at(kNarrowest, kAlpha);
  const statistics::BetEnds none{1.599, 1.601}, ends = statistics::widened_by_bets(values, g, kAlpha, none);
  ASSERT_LT(ends.low, ends.high);
  for (const bool lower : {true, false}) {
    statistics::Bets bets(lower ? ends.low : ends.high, g);
    for (const double value : values) bets.add(value);
    EXPECT_NEAR(lower ? bets.log_above() : bets.log_below(), -std::log(kAlpha / 2), 1e-6);
  }
  // What is wider already stays; shifted and scaled values have a shifted and scaled interval.
  const statistics::BetEnds wide{-100, 100}, kept = statistics::widened_by_bets(values, g, kAlpha, wide);
  EXPECT_EQ(kept.low, -100);
  EXPECT_EQ(kept.high, 100);
  std::vector<double> moved;
  for (const double value : values) moved.push_back(1000 + 3 * value);
  const statistics::BetEnds other = statistics::widened_by_bets(moved, g, kAlpha, {1000 + 3 * 1.599, 1000 + 3 * 1.601});
  EXPECT_NEAR(other.low, 1000 + 3 * ends.low, 1e-5);
  EXPECT_NEAR(other.high, 1000 + 3 * ends.high, 1e-5);
  EXPECT_TRUE(std::isinf(statistics::widened_by_bets(std::span(values).first(4), g, kAlpha, none).high)) << "one bet is none";
}

// One side alone has a path that is slow in one run of thirty, the mean difference is 0: a t takes what it has not seen yet for
// nothing.
TEST(Sequence, BearsAFewFarValuesOnOneSide) {
  constexpr int kRounds = 400;
  constexpr uint32_t kBlocks = 150;
  Rng rng = Rng::stream(28, "one side");
  int by_t = 0, judged = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double g = statistics::mixture_narrowest_at(std::sqrt(8.0 * kBlocks), kAlpha);
    statistics::Bets bets(0, g);
    statistics::Moments seen;
    bool t_errs = false, errs = false;
    for (uint32_t n = 1; n <= kBlocks; ++n) {
      const double value = 0.3 + standard_normal(rng) + (rng.uniform() < 1.0 / 30 ? -9 : 0);
      seen = statistics::merge(seen, statistics::Moments{1, value, 0});
      bets.add(value);
      if (n < 8) continue;
      const bool by_ratio = statistics::mixture_log_ratio(seen.mean / seen.standard_error(), n, g) >= -std::log(kAlpha);
      t_errs |= by_ratio;
      errs |= by_ratio && std::max(bets.log_above(), bets.log_below()) >= -std::log(kAlpha / 2);
    }
    by_t += t_errs;
    judged += errs;
  }
  std::printf("rate far values on one side: t %.4f, judged %.4f\n", by_t / double{kRounds}, judged / double{kRounds});
  EXPECT_GT(by_t, 0.08 * kRounds) << "without bets there is nothing to mend";
  EXPECT_LE(judged, (kAlpha + 4 * std::sqrt(kAlpha * (1 - kAlpha) / kRounds)) * kRounds);
}

TEST(Sequence, PAndIntervalAgree) {
  const report::LookLevels levels = levels_after(30);
  EXPECT_NEAR(levels.p(levels.interval()), kAlpha, 1e-9);
  EXPECT_NEAR(levels.p(levels.equivalence()), 2 * kAlpha, 1e-9);
  EXPECT_LT(levels.interval(), 0.01);
  double last = 0;
  for (double p = 1e-200; p < 1; p *= 1.9) {
    EXPECT_GE(levels.p(p), std::max(p, last));
    last = levels.p(p);
  }
  EXPECT_EQ(levels.p(1), 1);
  EXPECT_LE(levels.p(0), levels.p(1e-290) * (1 + 1e-9));
  EXPECT_TRUE(levels.bounded());
  EXPECT_FALSE(levels_after(3).bounded());
}

TEST(Sequence, WatchedAfterEachBlockItKeepsAlpha) {
  constexpr int kRounds = 60;
  for (const WatchedShape& shape : kWatchedShapes) {
    // The others are slow, and in the table.
    if (shape.levels > 2 || shape.links > 0 || shape.error != WatchedShape::kNormal) continue;
    if (shape.programs > 1 && shape.asked == report::Population::kOneWorkload) continue;
    Rng rng = Rng::stream(22, shape.name);
    int changed = 0, equivalent = 0;
    for (int round = 0; round < kRounds; ++round) {
      const auto is = [&](report::Verdict verdict) {
        return [&shape, verdict](const report::Contrast& c) {
          return c.verdict == verdict && c.population == shape.asked && c.factor != "b" && c.factor != "c";
        };
      };
      changed +=
          found_while_watching(watched_blocks(rng, shape, kMost, 0, 1e-9), 8, kMost, levels_after, is(report::Verdict::kChanged));
      equivalent +=
          found_while_watching(watched_blocks(rng, shape, kMost, 1, 1), 8, kMost, levels_after, is(report::Verdict::kEquivalent));
    }
    std::printf("rate %s: changed %.4f, equivalent %.4f\n", shape.name, changed / double{kRounds}, equivalent / double{kRounds});
    const double most = kAlpha + 4 * std::sqrt(kAlpha * (1 - kAlpha) / kRounds);
    EXPECT_LE(changed / double{kRounds}, most) << shape.name;
    EXPECT_LE(equivalent / double{kRounds}, most) << shape.name;
  }
}

// What watching costs without it: the same looks, each as if it were the only one.
TEST(Sequence, WithoutItWatchingCostsFalseAlarms) {
  Rng rng = Rng::stream(23, "naive");
  int naive = 0;
  for (int round = 0; round < 200; ++round)
    naive += found_while_watching(
        watched_blocks(rng, {}, kMost, 0, 1e-9), 8, kMost, [](uint32_t) { return report::LookLevels(kAlpha); },
        [](const report::Contrast& contrast) { return contrast.verdict == report::Verdict::kChanged; });
  EXPECT_GT(naive, 30) << "of 200, where 10 are allowed";
}

TEST(Sequence, IsJudgedAtAnyTimeFromItsFirstReplicates) {
  Rng rng = Rng::stream(24, "any time");
  report::Samples samples = watched_blocks(rng, {}, kMost, 5, 0.5);
  samples.stopping.first = 8;
  samples.stopping.max = kMost;
  report::Samples seen = report::first_blocks(samples, 12);
  seen.incomplete = true;
  const auto report = report::analyse(seen);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->contrasts[0].verdict, report::Verdict::kChanged);
  EXPECT_NE(report->stopping.find("12 replicates so far"), std::string::npos) << report->stopping;
  EXPECT_DOUBLE_EQ(report->interval_level, levels_after(12).interval());
  // Its interval is the wider of the critical t's on the block differences, and of what bets on them leave.
  const double g = statistics::mixture_narrowest_at(kNarrowest, kAlpha);
  const double half = statistics::sequence_critical_t(12, g, kAlpha) * report->contrasts[0].standard_error;
  std::vector<double> differences(12);
  for (const report::Trial& trial : seen.trials) differences[trial.block] += (trial.levels[1] > 0 ? 1 : -1) * *trial.values[0];
  const report::Interval& shown = report->contrasts[0].interval;
  const statistics::BetEnds ends =
      statistics::widened_by_bets(differences, g, kAlpha, {shown.estimate - half, shown.estimate + half});
  EXPECT_NEAR(shown.high, ends.high, 1e-6);
  EXPECT_NEAR(shown.low, ends.low, 1e-6);
  EXPECT_GT(shown.high - shown.low, 2 * half * 1.01) << "bets decide with twelve blocks";
  // As many as are enough for a verdict, and fewer than were declared.
  seen.stopping.first = 13;
  const auto early = report::analyse(seen);
  ASSERT_TRUE(early) << early.error().message;
  EXPECT_EQ(early->contrasts[0].refused, "");
  EXPECT_EQ(early->contrasts[0].verdict, report::Verdict::kWithheld) << "before the first replicates";
  seen = report::first_blocks(samples, 3);
  EXPECT_NE(report::analyse(seen)->contrasts[0].refused.find("too few replicates"), std::string::npos);
  // A plan without a sequence gives no verdict before its end.
  seen = report::first_blocks(samples, 12);
  seen.incomplete = true;
  seen.stopping.rule = report::StoppingRule::kFixed;
  EXPECT_EQ(report::analyse(seen)->contrasts[0].verdict, report::Verdict::kWithheld);
}

TEST(Sequence, LooksStopWhenNothingIsOpen) {
  Rng rng = Rng::stream(25, "stops");
  report::Samples samples = watched_blocks(rng, {.programs = 2}, kMost, 5, 0.5);
  const auto found = report::look(samples, 10);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->stop);
  EXPECT_EQ(found->text, "a look after 10 replicates: 3 contrasts settled, 0 unsure: nothing is open, so it ends here");
  EXPECT_FALSE(report::look(samples, 7)) << "before its first replicates";
  report::Samples open = watched_blocks(rng, {}, kMost, 0, 0.01);
  EXPECT_FALSE(report::look(open, 30)->stop);
  EXPECT_TRUE(report::look(open, kMost)->stop) << "the end";
  // Programs like these wait for the end, whatever is found before.
  const report::Report early = *report::analyse(report::first_blocks(samples, 40)), late = *report::analyse(samples);
  for (const report::Report* report : {&early, &late})
    for (const report::Contrast& contrast : report->contrasts) {
      if (contrast.population != report::Population::kLikeThese) continue;
      EXPECT_EQ(contrast.refused.empty(), report == &late) << contrast.refused;
    }
}

}  // namespace
}  // namespace stab::analysis
