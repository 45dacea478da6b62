// What a replay says of its trial, in words and numbers.
#include "analysis/report/report_data/replayed_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>

#include "analysis/report/rendering/first_screen.h"
#include "analysis/report/report_data/report.h"
#include "analysis/statistics/two_samples/t_tests.h"
#include "tests/unit/analysis/made_replay.h"

namespace stab::analysis {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

report::Report report_of(const ReplayShape& shape, uint64_t seed = 5) { return *report::analyse(replay_samples(seed, shape)); }

TEST(Replay, ASlowLayoutIsCalledSlowByThePairedTestOfItsBlocks) {
  const report::Samples samples = replay_samples(5, {.effect = 0.08, .excess = 0.081});
  const report::Report report = *report::analyse(samples);
  ASSERT_TRUE(report.replay.has_value());
  EXPECT_EQ(report.replay->cause, report::Cause::kLayout);
  EXPECT_EQ(report.replay->runs, 20u);
  EXPECT_EQ(report.replay->fresh, 20u);
  EXPECT_THAT(report.replay->sentences[0], MatchesRegex("This layout is slow: [0-9.]+ % slower than fresh .*"));
  EXPECT_THAT(report.replay->sentences[0], HasSubstr("% slower than fresh layouts of its cell, 95 % interval "));
  EXPECT_THAT(report.replay->sentences[1],
              HasSubstr("8.44 % slower than the others of its cell: no more than its layout explains"));
  std::vector<double> differences(20);
  for (const report::Trial& trial : samples.trials)
    differences[trial.block] += (trial.levels[1] == 1 ? 1 : -1) * std::log(*trial.values[0]);
  const auto paired = statistics::one_sample_t(differences, 0, statistics::Alternative::kTwoSided, 0.95);
  ASSERT_EQ(report.contrasts.size(), 1u);
  EXPECT_NEAR(std::log(report.contrasts[0].interval.estimate), paired->estimate, 1e-12);
  EXPECT_NEAR(std::log(report.contrasts[0].interval.high), *paired->conf_high, 1e-12);
  EXPECT_NEAR(report.contrasts[0].p_value, paired->p_value, 1e-12);
}

TEST(Replay, AMomentIsWhatNoLayoutExplains) {
  const report::Report report = report_of({.layout_sd = 0.005, .excess = 0.08});
  EXPECT_EQ(report.replay->cause, report::Cause::kMoment);
  EXPECT_THAT(report.replay->sentences[0], StartsWith("It was the moment, not the layout: "));
  EXPECT_THAT(report.replay->sentences[1], HasSubstr("what that one run met"));
}

TEST(Replay, ATrialThatWasSlowerThanItsSlowLayoutHadBoth) {
  const report::Report report = report_of({.effect = 0.04, .layout_sd = 0.005, .excess = 0.12});
  EXPECT_EQ(report.replay->cause, report::Cause::kBoth);
  EXPECT_THAT(report.replay->sentences[0], StartsWith("This layout is slow, and its moment was, too: "));
}

TEST(Replay, ASlowTrialOfAFastLayoutMetABadMoment) {
  EXPECT_EQ(report_of({.effect = -0.04, .layout_sd = 0.005, .excess = 0.12}).replay->cause, report::Cause::kMoment);
  EXPECT_EQ(report_of({.effect = -0.04, .layout_sd = 0.005, .excess = -0.04}).replay->cause, report::Cause::kLayout);
  EXPECT_THAT(report_of({.effect = -0.04, .layout_sd = 0.005, .excess = -0.04}).replay->sentences[0],
              StartsWith("This layout is fast"));
}

TEST(Replay, NothingStandsOutWhereNothingDid) {
  const report::Report report = report_of({.times = 60, .layout_sd = 0.002, .noise = 0.002, .excess = 0.003});
  EXPECT_EQ(report.replay->cause, report::Cause::kNeither);
}

TEST(Replay, OfATrialAloneInItsCellNothingIsSaidOfItsMoment) {
  const report::Report report = report_of({.times = 60, .layout_sd = 0.002, .noise = 0.002});
  ASSERT_EQ(report.contrasts[0].verdict, report::Verdict::kEquivalent);
  EXPECT_EQ(report.replay->cause, report::Cause::kUnsure);
  EXPECT_THAT(report.replay->sentences[0], HasSubstr("its layout is as fresh layouts of its cell are, within the margin"));
}

// As the table of docs/explanation/verdicts.md has it: the margin is held against what lies on the other side only.
TEST(Replay, OfALayoutThatIsSlowASmallDifferenceOfItsTrialIsNoMoment) {
  EXPECT_EQ(report_of({.effect = 0.04, .layout_sd = 0.005, .excess = 0.005}).replay->cause, report::Cause::kLayout)
      << "short of it";
  EXPECT_EQ(report_of({.effect = 0.04, .layout_sd = 0.005, .excess = -0.005}).replay->cause, report::Cause::kLayout)
      << "within the margin";
  EXPECT_EQ(report_of({.effect = 0.04, .layout_sd = 0.005, .excess = -0.03}).replay->cause, report::Cause::kMoment);
}

TEST(Replay, TooFewRunsAreUnsureAndSayHowManyWouldTell) {
  const report::Report report = report_of({.times = 4, .effect = 0.02, .layout_sd = 0.04, .excess = 0.03});
  EXPECT_EQ(report.replay->cause, report::Cause::kUnsure);
  EXPECT_THAT(report.replay->sentences[0], HasSubstr("runs of each are needed to decide"));
}

TEST(Replay, LinksThatComeBackCountOnceEach) {
  const report::Report report = report_of({.effect = 0.03, .layout_sd = 0.02, .links = 5, .excess = 0.03});
  ASSERT_TRUE(report.contrasts[0].refused.empty()) << report.contrasts[0].refused;
  EXPECT_TRUE(report.contrasts[0].by_link);
  EXPECT_EQ(report.contrasts[0].n, 5u);
  EXPECT_NEAR(report.contrasts[0].df, 4, 1e-9);
  EXPECT_THAT(report.replay->sentences[0], HasSubstr("the recorded links of its cell"));
  EXPECT_EQ(report.replay->runs, 20u);
}

TEST(Replay, BeforeItIsOverNothingIsSaid) {
  report::Samples samples = replay_samples(5, {.effect = 0.08});
  samples.incomplete = true;
  const report::Report report = *report::analyse(samples);
  EXPECT_EQ(report.replay->cause, report::Cause::kWithheld);
  EXPECT_EQ(report.replay->sentences.size(), 1u);
}

TEST(Replay, TheFirstScreenBeginsWithIt) {
  const std::string screen = report::render_first_screen(report_of({.effect = 0.08, .excess = 0.08}), {});
  const size_t at = screen.find("Trial 91: a bad layout or a bad moment?"), rest = screen.find("What changed");
  ASSERT_NE(at, std::string::npos) << screen;
  EXPECT_LT(at, rest);
  EXPECT_THAT(report::render_markdown(report_of({.effect = 0.08})), HasSubstr("a bad layout or a bad moment?"));
  const auto json = nlohmann::json::parse(report::to_json(report_of({.effect = 0.08})))["replay"];
  EXPECT_EQ(json["trial"], 91);
  EXPECT_EQ(json["cause"], "layout");
  EXPECT_EQ(json["below"], 20);
  EXPECT_TRUE(json["excess"].is_null());
  EXPECT_EQ(report::to_json(*report::analyse(lab_samples(1))).find("\"replay\""), std::string::npos);
}

TEST(Replay, APageThatReplaysNothingIsRefused) {
  report::Samples samples = replay_samples(5);
  samples.replayed->factor = 2;
  EXPECT_FALSE(report::analyse(samples));
  samples.replayed->factor = 0;
  EXPECT_FALSE(report::analyse(samples));
}

// A logarithm that is finite, of a ratio that is not: a page or a plan of a stranger's may say it.
TEST(Replay, ADifferenceBeyondAllNumbersIsNotKnown) {
  report::Samples samples = replay_samples(5);
  samples.replayed->excess = 1000;
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->replay->excess);
  for (const std::string& sentence : report->replay->sentences) EXPECT_EQ(sentence.find("inf"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace stab::analysis
