// Looking early must cost nothing: simulations of whole experiments that stop by the declared rule. Fixed seeds; rates
// within 4 standard errors of what is promised. Measured rates go into docs/evaluation/records/calibration.md.
#include "analysis/report/contrasts/stopping_decision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/worse.h"
#include "analysis/statistics/looks/spending_curve.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

constexpr double kAlpha = 0.05;

double limit(double rate, int rounds) { return 4 * std::sqrt(rate * (1 - rate) / rounds); }

// Blocks of one program with shuffled code and a treatment of `levels` levels; logs are normal.
report::Samples treatment_samples(Rng& rng, uint32_t blocks, uint16_t levels, double sd, double effect) {
  report::Samples samples;
  samples.workloads = {"fib"};
  samples.factors = {{"code", {"shuffle"}, true, 0}, {"opt", {}, false, 0}};
  for (uint16_t level = 0; level < levels; ++level) samples.factors[1].levels.push_back("O" + std::to_string(level));
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLog, .margin = 1e-9}};
  uint32_t order = 0;
  for (uint32_t block = 0; block < blocks; ++block) {
    const double night = 0.1 * standard_normal(rng);
    for (uint16_t level = 0; level < levels; ++level) {
      report::Trial trial;
      trial.levels = {0, level};
      trial.block = block;
      trial.order = order++;
      trial.seed = rng.next();
      trial.values = {std::exp(night + (level > 0 ? effect : 0) + sd * standard_normal(rng))};
      samples.trials.push_back(std::move(trial));
    }
  }
  return with_layouts(std::move(samples));
}

std::vector<report::Contrast> contrasts_at(const report::Samples& samples, const report::StoppedAt& stopped) {
  report::UnitsByResponse units{{report::units_of(samples, 0, 0)}};
  return report::contrasts_of(samples, units, stopped);
}

struct Looking {
  std::vector<uint32_t> looks{10, 20, 30, 40};
  statistics::Spending spending = statistics::Spending::kObrienFleming;
  std::vector<report::StoppedAt> levels;

  explicit Looking(statistics::Spending which) : spending(which) {
    std::vector<double> fractions;
    for (uint32_t at : looks) fractions.push_back(at / 40.0);
    for (size_t k = 0; k < looks.size(); ++k)
      levels.push_back({*report::LookLevels::at_look(spending, fractions, k, kAlpha)});
  }
  // Whether some look finds what `found` asks for.
  bool any(const report::Samples& samples, const std::function<bool(const report::Contrast&)>& found) const {
    for (size_t k = 0; k < looks.size(); ++k) {
      const auto contrasts = contrasts_at(report::first_blocks(samples, looks[k]), levels[k]);
      if (std::any_of(contrasts.begin(), contrasts.end(), found)) return true;
    }
    return false;
  }
};

bool changed(const report::Contrast& contrast) { return contrast.verdict == report::Verdict::kChanged; }

TEST(Stopping, LooksKeepAlpha) {
  constexpr int kRounds = 3000;
  for (const auto& [what, spending] :
       {std::pair{"O'Brien-Fleming", statistics::Spending::kObrienFleming}, {"Pocock", statistics::Spending::kPocock}}) {
    const Looking looking(spending);
    Rng rng = Rng::stream(1, "looks");
    int one = 0, family = 0, naive = 0, equivalent = 0;
    for (int i = 0; i < kRounds; ++i) {
      one += looking.any(treatment_samples(rng, 40, 2, 0.01, 0), changed);
      // Exactly at the margin, and both the interval and Holm's steps have four questions.
      report::Samples at_margin = treatment_samples(rng, 40, 2, 0.01, std::log1p(0.01));
      at_margin.responses[0].margin = 0.01;
      equivalent += looking.any(at_margin, [](const report::Contrast& c) { return c.verdict == report::Verdict::kEquivalent; });
      if (i % 3 == 0) family += looking.any(treatment_samples(rng, 40, 5, 0.01, 0), changed);
      if (i % 3 != 0) continue;
      const report::Samples peeked = treatment_samples(rng, 40, 2, 0.01, 0);
      bool found = false;
      for (uint32_t replicates : looking.looks) {
        const auto contrasts = contrasts_at(report::first_blocks(peeked, replicates), {report::LookLevels(kAlpha)});
        found |= changed(contrasts[0]);
      }
      naive += found;
    }
    const auto share = [](int count, int rounds) { return static_cast<double>(count) / rounds; };
    std::printf("rate %s, 4 looks: %.4f; four contrasts: %.4f; equivalent at the margin: %.4f; peeking: %.4f\n", what,
                share(one, kRounds), share(family, kRounds / 3), share(equivalent, kRounds), share(naive, kRounds / 3));
    EXPECT_NEAR(share(one, kRounds), kAlpha, limit(kAlpha, kRounds)) << what;
    EXPECT_LE(share(family, kRounds / 3), kAlpha + limit(kAlpha, kRounds / 3)) << what;
    EXPECT_LE(share(equivalent, kRounds), kAlpha + limit(kAlpha, kRounds)) << what;
    EXPECT_GT(share(naive, kRounds / 3), 0.09) << "peeking at 5 % four times";
  }
}

// The time that was set is over between two looks, or before the first: its end is a look, and all together keep alpha.
TEST(Stopping, TheEndOfTimeIsTheLastLook) {
  constexpr int kRounds = 3000;
  // Pocock's early looks could have spent much of alpha, which the last one goes without.
  for (const auto& [what, spending, least] : {std::tuple{"O'Brien-Fleming", statistics::Spending::kObrienFleming, 0.035},
                                              {"Pocock", statistics::Spending::kPocock, 0.015}}) {
    const std::vector<uint32_t> looks{8, 16, 32};
    std::vector<report::StoppedAt> early;  // as the plan has them
    for (size_t k = 0; k < looks.size(); ++k)
      early.push_back({*report::LookLevels::at_look(spending, {8 / 32.0, 16 / 32.0, 1}, k, kAlpha)});
    std::map<uint32_t, report::StoppedAt> last;
    Rng rng = Rng::stream(2, "time");
    int alarms = 0, found = 0;
    for (int i = 0; i < kRounds; ++i) {
      const auto whole = static_cast<uint32_t>(6 + rng.below(26));
      for (const double effect : {0.0, 0.01}) {
        report::Samples cut = treatment_samples(rng, whole + 1, 2, 0.01, effect);
        cut.trials.pop_back();  // the last block has one side
        cut.incomplete = true;
        cut.stopping = {.rule = report::StoppingRule::kLooks, .spending = spending, .looks = looks};
        bool any = false;
        for (size_t k = 0; k < looks.size() && looks[k] < whole; ++k)
          any |= changed(contrasts_at(report::first_blocks(cut, looks[k]), early[k])[0]);
        const auto ended = report::judged_when_time_ended(cut, whole);
        ASSERT_TRUE(ended);
        ASSERT_EQ(report::replicates_of(*ended), whole);
        ASSERT_TRUE(report::may_be_judged(*ended));
        if (!last.contains(whole)) last.emplace(whole, report::StoppedAt{*report::levels_of(*ended)});
        any |= changed(contrasts_at(*ended, last.at(whole))[0]);
        (effect == 0 ? alarms : found) += any;
      }
    }
    std::printf("rate %s, time over: %.4f; an effect of one sd: %.4f\n", what, alarms / double{kRounds}, found / double{kRounds});
    EXPECT_LE(alarms / double{kRounds}, kAlpha + limit(kAlpha, kRounds)) << what;
    EXPECT_GE(alarms / double{kRounds}, least) << what;
    EXPECT_GT(found / double{kRounds}, 0.5) << what;
  }
  Rng rng_of_few(3);
  report::Samples few = treatment_samples(rng_of_few, 5, 2, 0.01, 0);
  few.incomplete = true;
  EXPECT_FALSE(report::may_be_judged(few));
  EXPECT_TRUE(report::may_be_judged(*report::judged_when_time_ended(few, 5)));
  few.stopping = {.rule = report::StoppingRule::kSequence, .looks = {}, .first = 3, .max = 9};
  EXPECT_FALSE(report::judged_when_time_ended(few, 2)) << "a sequence says nothing yet";
  const auto sequence = report::judged_when_time_ended(few, 4);
  ASSERT_TRUE(sequence);
  EXPECT_TRUE(!sequence->incomplete && report::replicates_of(*sequence) == 4 && report::may_be_judged(*sequence));
  few.stopping = {.rule = report::StoppingRule::kPrecision, .looks = {}, .first = 2, .max = 9};
  EXPECT_FALSE(report::judged_when_time_ended(few, 4)) << "how wide its intervals are decides when it ends";
}

// The same of a gate, which ends at the first look with an answer: where nothing is worse it seldom says so, and where something
// is worse by exactly the margin it seldom says that it isn't.
TEST(Stopping, AGateWhoseTimeEndsErrsAsSeldom) {
  constexpr int kRounds = 2500;
  constexpr double kMargin = 0.01;
  for (const auto& [what, looks] : {std::pair{"looks 10, 20, 40", std::vector<uint32_t>{10, 20, 40}}, {"no look", {}}}) {
    const auto spending = statistics::Spending::kObrienFleming;
    std::vector<report::StoppedAt> early;
    for (size_t k = 0; k < looks.size(); ++k)
      early.push_back({*report::LookLevels::at_look(spending, {10 / 40.0, 20 / 40.0, 1}, k, kAlpha)});
    std::map<uint32_t, report::StoppedAt> last;
    Rng rng = Rng::stream(4, "time of a gate");
    int rejected = 0, accepted = 0, answered = 0;
    for (int i = 0; i < kRounds; ++i) {
      const auto whole = static_cast<uint32_t>(6 + rng.below(34));
      for (const double effect : {0.0, std::log1p(kMargin)}) {
        report::Samples cut = treatment_samples(rng, whole, 2, 0.01, effect);
        cut.responses[0].margin = kMargin;
        cut.incomplete = true;
        if (!looks.empty()) cut.stopping = {.rule = report::StoppingRule::kLooks, .spending = spending, .looks = looks};
        const auto answer = [&](const report::Samples& seen, const report::StoppedAt& at) {
          const report::Contrast contrast = contrasts_at(seen, at)[0];
          return report::worse_by(seen.responses[0], contrast, kAlpha, contrast.p_holm);
        };
        report::Worse found = report::Worse::kUnsure;
        for (size_t k = 0; k < looks.size() && looks[k] < whole && found == report::Worse::kUnsure; ++k)
          found = answer(report::first_blocks(cut, looks[k]), early[k]);
        if (found == report::Worse::kUnsure) {
          const auto ended = report::judged_when_time_ended(cut, whole);
          ASSERT_TRUE(ended);
          if (!last.contains(whole)) last.emplace(whole, report::StoppedAt{*report::levels_of(*ended)});
          found = answer(*ended, last.at(whole));
        }
        rejected += effect == 0 && found == report::Worse::kYes;
        accepted += effect > 0 && found == report::Worse::kNo;
        answered += found != report::Worse::kUnsure;
      }
    }
    std::printf("rate gate, %s, time over: rejected %.4f of equal ones, accepted %.4f at the margin; answered %.4f\n", what,
                rejected / double{kRounds}, accepted / double{kRounds}, answered / double{2 * kRounds});
    EXPECT_LE(rejected / double{kRounds}, kAlpha / 2 + limit(kAlpha / 2, kRounds)) << what;
    EXPECT_LE(accepted / double{kRounds}, kAlpha + limit(kAlpha, kRounds)) << what;
    EXPECT_GE(accepted / double{kRounds}, 0.02) << what;
    EXPECT_GT(answered / double{2 * kRounds}, 0.4) << what;
  }
}

// How often walks cross boundaries first at each look, against what the looks are to spend.
void expect_spent(const std::vector<statistics::Look>& looks, const std::string& what) {
  constexpr int kRounds = 200'000;
  Rng rng = Rng::stream(6, "walks");
  std::vector<int> first_crossed(looks.size());
  for (int i = 0; i < kRounds; ++i) {
    double walk = 0, time = 0;
    for (size_t k = 0; k < looks.size(); ++k) {
      walk += std::sqrt(looks[k].fraction - time) * standard_normal(rng);
      time = looks[k].fraction;
      if (std::fabs(walk) < looks[k].z * std::sqrt(time)) continue;
      ++first_crossed[k];
      break;
    }
  }
  double spent = 0;
  for (size_t k = 0; k < looks.size(); ++k) {
    spent += static_cast<double>(first_crossed[k]) / kRounds;
    EXPECT_NEAR(spent, looks[k].spent, 1e-6 + limit(looks[k].spent, kRounds)) << what << " look " << k;
  }
}

// The boundaries themselves against walks, without any of the arithmetic that made them.
TEST(Stopping, BoundariesAgainstRandomWalks) {
  const std::vector<double> fractions{0.15, 0.4, 0.55, 1};  // unevenly spaced
  for (const statistics::Spending spending :
       {statistics::Spending::kObrienFleming, statistics::Spending::kPocock, statistics::Spending::kClassicObrienFleming,
        statistics::Spending::kClassicPocock})
    expect_spent(*statistics::alpha_spending(spending, fractions, kAlpha, false),
                 "spending " + std::to_string(static_cast<int>(spending)));
  // A declared curve over looks that double, the same at each, and nothing at one.
  expect_spent(*statistics::looks_that_spend(std::vector{0.01, 0.02, 0.03, 0.04}, std::vector{0.125, 0.25, 0.5, 1.0}, false),
               "even");
  expect_spent(*statistics::looks_that_spend(std::vector{0.01, 0.01, 0.05}, std::vector{0.1, 0.2, 0.4}, false), "a pause");
}

TEST(Stopping, RefusesCurvesThatDontAscend) {
  const std::vector<double> fractions{0.5, 1};
  EXPECT_FALSE(statistics::looks_that_spend(std::vector{0.02, 0.01}, fractions, false));
  EXPECT_FALSE(statistics::looks_that_spend(std::vector{0.02}, fractions, false));
  EXPECT_FALSE(statistics::looks_that_spend(std::vector{0.02, 0.5}, fractions, false));
  EXPECT_FALSE(statistics::looks_that_spend(std::vector{0.02, 0.03}, std::vector{1.0, 0.5}, false));
}

// The smallest alpha at which the boundary is crossed: monotone, alpha itself at its own level, never below the plain p.
TEST(Stopping, RepeatedPValues) {
  const report::LookLevels second =
      *report::LookLevels::at_look(statistics::Spending::kObrienFleming, {0.25, 0.5, 0.75, 1}, 1, kAlpha);
  EXPECT_NEAR(second.p(second.interval()), kAlpha, 1e-12);
  EXPECT_NEAR(second.p(second.equivalence()), 2 * kAlpha, 1e-12);
  EXPECT_LT(second.interval(), 0.004);
  double last = 0;
  for (double p = 1e-12; p < 1; p *= 1.7) {
    EXPECT_GE(second.p(p), last);
    EXPECT_GE(second.p(p), p);
    last = second.p(p);
  }
  // Between knots: solved directly.
  for (double alpha : {0.003, 0.017, 0.2}) {
    const auto looks =
        statistics::alpha_spending(statistics::Spending::kObrienFleming, std::vector<double>{0.25, 0.5}, alpha, false);
    EXPECT_NEAR(second.p((*looks)[1].nominal_p), alpha, 0.01 * alpha);
  }
  EXPECT_EQ(report::LookLevels(kAlpha).p(0.03), 0.03);
}

// Stein's two stages: whatever the spread turns out to be, the interval covers the truth as often as promised, and is as
// narrow as asked (but for the plan's maximum).
TEST(Stopping, PrecisionCovers) {
  constexpr int kRounds = 4000;
  constexpr uint32_t kFirst = 10, kMost = 400;
  constexpr double kWanted = 0.01, kEffect = 0.013;
  Rng rng = Rng::stream(3, "stein");
  int covered = 0, wide = 0;
  double total = 0;
  for (int i = 0; i < kRounds; ++i) {
    const double sd = 0.01 * (1 + 0.5 * (i % 3));
    Rng draws = Rng::stream(rng.next(), "round");
    const report::Samples longest = treatment_samples(draws, 120, 2, sd, kEffect);
    const report::Samples first = report::first_blocks(longest, kFirst);
    const report::Contrast pilot = contrasts_at(first, {report::LookLevels(kAlpha)})[0];
    const double half = std::expm1(std::log(pilot.interval.high / pilot.interval.low) / 2);
    const auto wanted = static_cast<uint32_t>(std::ceil(kFirst * half * half / (kWanted * kWanted)));
    const uint32_t replicates = std::clamp<uint32_t>(wanted, kFirst, std::min<uint32_t>(kMost, 120));
    total += replicates;
    const report::Samples all = report::first_blocks(longest, replicates);
    const report::UnitsByResponse units{{report::units_of(first, 0, 0)}};
    report::StoppedAt stopped{report::LookLevels(kAlpha)};
    if (replicates > kFirst) stopped.first_stage = &units;
    stopped.shrinks = std::sqrt(static_cast<double>(kFirst) / replicates);
    const report::Contrast contrast = contrasts_at(all, stopped)[0];
    covered += contrast.interval.low <= std::exp(kEffect) && std::exp(kEffect) <= contrast.interval.high;
    wide += replicates < 120 && std::log(contrast.interval.high / contrast.interval.low) / 2 > 1.35 * std::log1p(kWanted);
  }
  const double rate = static_cast<double>(covered) / kRounds;
  std::printf("rate precision, 10 replicates first, %.1f on average: coverage %.4f, a third too wide %.4f\n", total / kRounds,
              rate, static_cast<double>(wide) / kRounds);
  EXPECT_GE(rate, 0.95 - limit(0.05, kRounds));
  EXPECT_LE(rate, 0.985);
}

// Two programs, the second of which no look can settle: a regression of the first ends it where that is enough, an improvement
// does not.
TEST(Stopping, EndsAtARegressionWhereThatIsEnough) {
  const auto outcome = [](double effect, bool until_worse) {
    Rng rng = Rng::stream(6, "worse");
    report::Samples samples = treatment_samples(rng, 20, 2, 0.002, effect);
    const report::Samples open = treatment_samples(rng, 20, 2, 0.2, 0);
    samples.workloads.push_back("open");
    for (report::Trial trial : open.trials) {
      trial.workload = 1;
      trial.order += 1000;
      samples.trials.push_back(std::move(trial));
    }
    samples.responses[0].margin = 0.01;
    samples.stopping.rule = report::StoppingRule::kLooks;
    samples.stopping.looks = {10, 20};
    samples.stopping.until_worse = until_worse;
    return *report::look(with_layouts(std::move(samples)), 10);
  };
  EXPECT_TRUE(outcome(0.05, true).stop);
  EXPECT_GE(outcome(0.05, true).worse, 1u);
  EXPECT_GT(outcome(0.05, true).open, 0u);
  EXPECT_FALSE(outcome(0.05, false).stop);
  EXPECT_FALSE(outcome(-0.05, true).stop);
  EXPECT_FALSE(outcome(0, true).stop);
}

// Both programs seem slower and neither is shown to be, but their mean is: a gate asks of each program, and has no answer yet.
TEST(Stopping, AMeanOfProgramsIsNoRegressionOfOne) {
  Rng rng = Rng::stream(7, "mean");
  report::Samples samples = treatment_samples(rng, 20, 2, 0.03, 0.059);
  const report::Samples other = treatment_samples(rng, 20, 2, 0.03, 0.059);
  samples.workloads.push_back("other");
  for (report::Trial trial : other.trials) {
    trial.workload = 1;
    trial.order += 1000;
    samples.trials.push_back(std::move(trial));
  }
  samples.responses[0].margin = 0.01;
  samples.stopping.rule = report::StoppingRule::kLooks;
  samples.stopping.looks = {10, 20};
  samples.stopping.until_worse = true;
  samples = with_layouts(std::move(samples));
  const report::Report report = *report::analyse(report::first_blocks(samples, 10), report::Depth::kVerdicts);
  for (const report::Contrast& contrast : report.contrasts) {
    if (contrast.population == report::Population::kLikeThese) continue;
    const bool is_mean = contrast.population == report::Population::kThese;
    EXPECT_EQ(contrast.verdict, is_mean ? report::Verdict::kChanged : report::Verdict::kUnsure)
        << contrast.workload << contrast.interval.low << " " << contrast.interval.high;
  }
  const report::LookOutcome outcome = *report::look(samples, 10);
  EXPECT_FALSE(outcome.stop) << outcome.text;
  EXPECT_EQ(outcome.open, 2u);
}

// Better by about the margin: whether it has changed takes more replicates than that it is not worse.
TEST(Stopping, AGateDoesNotWaitToLearnHowMuchBetterItIs) {
  for (const auto& [rule, effect] :
       {std::pair{report::StoppingRule::kLooks, -0.01}, std::pair{report::StoppingRule::kSequence, -0.015}}) {
    const auto outcome = [rule = rule, effect = effect](bool until_worse) {
      Rng rng = Rng::stream(7, "better");
      report::Samples samples = treatment_samples(rng, 40, 2, 0.02, effect);
      samples.responses[0].margin = 0.01;
      samples.stopping.rule = rule;
      if (rule == report::StoppingRule::kLooks) samples.stopping.looks = {20, 40};
      samples.stopping.first = 8;
      samples.stopping.max = 40;
      samples.stopping.until_worse = until_worse;
      return *report::look(with_layouts(std::move(samples)), 20);
    };
    EXPECT_TRUE(outcome(true).stop) << outcome(true).text;
    EXPECT_EQ(outcome(true).worse, 0u);
    EXPECT_FALSE(outcome(false).stop) << outcome(false).text;
  }
}

TEST(Stopping, LookStopsWhenNothingIsOpen) {
  Rng rng = Rng::stream(4, "look");
  report::Samples samples = treatment_samples(rng, 40, 2, 0.002, 0);
  samples.responses[0].margin = 0.01;
  samples.stopping.rule = report::StoppingRule::kLooks;
  samples.stopping.looks = {10, 20, 40};
  const auto early = report::look(samples, 10);
  ASSERT_TRUE(early) << early.error().message;
  EXPECT_TRUE(early->stop);
  EXPECT_EQ(early->settled, 1u);
  EXPECT_EQ(early->text, "look 1 of 3 after 10 replicates: 1 contrast settled, 0 unsure: nothing is open, so it ends here");
  report::Samples noisy = treatment_samples(rng, 40, 2, 0.2, 0);
  noisy.responses[0].margin = 0.01;
  noisy.stopping = samples.stopping;
  EXPECT_FALSE(report::look(noisy, 20)->stop);
  EXPECT_TRUE(report::look(noisy, 40)->stop);
  EXPECT_FALSE(report::look(noisy, 25)) << "no declared look";
  noisy.trials.resize(30);
  EXPECT_FALSE(report::look(noisy, 20)) << "not recorded yet";
  // Other contrasts than those that replicates settle don't count.
  samples.responses[0].declared = false;
  EXPECT_FALSE(report::look(samples, 10)->stop);
}

// What no boundary was computed for gets no verdict.
TEST(Stopping, BeyondTheLastLookVerdictsAreWithheld) {
  Rng rng = Rng::stream(8, "beyond");
  report::Samples samples = treatment_samples(rng, 40, 2, 0.002, 0.05);
  samples.stopping.rule = report::StoppingRule::kLooks;
  samples.stopping.looks = {10, 30};
  EXPECT_EQ(report::analyse(samples)->contrasts[0].verdict, report::Verdict::kWithheld);
  samples.stopping.looks = {10, 40};
  const report::Contrast contrast = report::analyse(samples)->contrasts[0];
  EXPECT_EQ(contrast.verdict, report::Verdict::kChanged);
  // Each look's rank answer is a repeated p-value, too.
  EXPECT_GE(*contrast.p_rank, *report::analyse(report::first_blocks(samples, 40))->contrasts[0].p_rank);
  samples.alpha = 0.246;
  EXPECT_FALSE(report::analyse(samples)) << "2 alpha must be below one half";
  EXPECT_FALSE(report::LookLevels::at_look(statistics::Spending::kClassicPocock, {0.5, 1}, 0, kAlpha))
      << "not a spending function";
}

TEST(Stopping, HalfWidthIsTheWidestInterval) {
  Rng rng = Rng::stream(5, "width");
  report::Samples samples = treatment_samples(rng, 20, 3, 0.02, 0.01);
  samples.stopping.rule = report::StoppingRule::kPrecision;
  samples.stopping.first = 10;
  samples.stopping.half_width = 0.01;
  const auto width = report::widest_half_width(samples, 10);
  ASSERT_TRUE(width) << width.error().message;
  double widest = 0;
  const auto report = report::analyse(report::first_blocks(samples, 10));
  for (const report::Contrast& contrast : report->contrasts)
    widest = std::max(widest, std::expm1(std::log(contrast.interval.high / contrast.interval.low) / 2));
  EXPECT_DOUBLE_EQ(*width, widest);
  // The second stage's own spread has no say: twenty replicates that agree don't make a narrow interval.
  report::Samples calm = samples;
  for (report::Trial& trial : calm.trials)
    if (trial.block >= 10) trial.values[0] = 1 + 1e-6 * trial.order;
  const auto after = report::analyse(calm);
  const double shrunk = std::log(report->contrasts[0].interval.high / report->contrasts[0].interval.low) / std::sqrt(2);
  EXPECT_GE(std::log(after->contrasts[0].interval.high / after->contrasts[0].interval.low), 0.999 * shrunk);
  EXPECT_EQ(after->contrasts[0].df, 9);
  EXPECT_FALSE(report::widest_half_width(samples, 1)) << "one replicate has no spread";
}

}  // namespace
}  // namespace stab::analysis
