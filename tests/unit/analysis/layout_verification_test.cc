// What a verification says of builds with and without a layout file: gains, spreads, and whether they vanish where code moves.
#include "analysis/layout_report/layout_verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace stab::analysis {
namespace {

using namespace layout_report;

using testing::HasSubstr;

constexpr const char* kFiles = "layout-file";

struct Made {
  int links = 10, runs = 2;
  double gain = 0, plain_sd = 0.02, file_sd = 0.02, noise = 0.001, moving_gain = 0;
  bool simulated = false;
  bool stepped = false;  // links differ by one place of four, as far from each other
};

report::Samples made(uint64_t seed, const Made& how) {
  Rng rng = Rng::stream(seed, "layout verification test");
  const auto normal = [&rng] {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(rng.next() >> 11) * 0x1p-53;
    return sum - 6;
  };
  const auto of_links = [&] { return how.stepped ? (static_cast<double>(rng.below(4)) - 1.5) / std::sqrt(1.25) : normal(); };
  report::Samples out;
  out.experiment = "p-verify";
  out.workloads = {"p"};
  out.factors = {{.name = "code", .levels = {"off", "shuffle"}, .layout = true, .baseline = 0, .fixed = {true, false}},
                 {.name = kFiles, .levels = {"plain", "advised"}}};
  out.responses = {{.name = "wall_time", .unit = "s"}};
  if (how.simulated) out.simulated = {"cachegrind"};
  for (uint16_t file = 0; file < 2; ++file) {
    const auto trial = [&](uint16_t code, uint64_t layout, double logarithm) {
      report::Trial one;
      one.levels = {code, file};
      one.fixed_code = code == 0;
      one.layout = uint64_t{file} << 32 | layout;
      one.values = {std::exp(logarithm)};
      out.trials.push_back(one);
    };
    for (int link = 0; link <= how.links; ++link) {
      const double of_link = (file ? how.gain : 0) + (file ? how.file_sd : how.plain_sd) * of_links();
      for (int run = 0; run < how.runs; ++run) trial(0, static_cast<uint64_t>(link), of_link + how.noise * normal());
    }
    for (int run = 0; run < 30; ++run)
      trial(1, static_cast<uint64_t>(run) + 1, (file ? how.moving_gain : 0) + how.plain_sd / 8 * normal() + how.noise * normal());
  }
  return out;
}

TEST(LayoutVerification, SaysTheGainAndThatItIsThePlaces) {
  const auto report = verify_layouts(made(1, {.gain = -0.05, .file_sd = 0.004}), kFiles);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->files.size(), 1u);
  const VerifiedFile& file = report->files[0];
  EXPECT_EQ(file.name, "advised");
  EXPECT_EQ(file.verdict, report::Verdict::kChanged);
  EXPECT_LT(file.links.ratio.low, std::exp(-0.05));
  EXPECT_GT(file.links.ratio.high, std::exp(-0.05));
  EXPECT_EQ(file.links.file_count, 10u) << "links are the units, not their runs";
  EXPECT_EQ(file.as_linked.file_count, 2u);
  EXPECT_LT(file.spread.ratio.high, 1);
  EXPECT_EQ(file.vanishes, Vanishes::kYes);
  const std::string text = render_verification_text(*report, 120), json = render_verification_json(*report);
  EXPECT_THAT(text, HasSubstr("'advised' makes the program faster"));
  EXPECT_THAT(text, HasSubstr("it is the places that make it"));
  EXPECT_THAT(json, HasSubstr("\"vanishes\": \"yes\""));
}

TEST(LayoutVerification, ARemainingGainIsNotOfPlaces) {
  const auto report = verify_layouts(made(2, {.gain = -0.05, .moving_gain = -0.05}), kFiles);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->files[0].vanishes, Vanishes::kNo);
  EXPECT_THAT(render_verification_text(*report, 120), HasSubstr("differ by more than places"));
}

TEST(LayoutVerification, NothingIsFoundWhereNothingIs) {
  const auto report = verify_layouts(made(3, {}), kFiles);
  ASSERT_TRUE(report);
  EXPECT_NE(report->files[0].verdict, report::Verdict::kChanged);
  EXPECT_LT(report->files[0].spread.ratio.low, 1);
  EXPECT_GT(report->files[0].spread.ratio.high, 1);
}

// Runs of one binary are equal in a simulation, and all links may be.
TEST(LayoutVerification, ASimulationsRatiosAreExact) {
  const auto report =
      verify_layouts(made(4, {.gain = -0.05, .plain_sd = 0, .file_sd = 0, .noise = 0, .simulated = true}), kFiles);
  ASSERT_TRUE(report);
  const VerifiedFile& file = report->files[0];
  EXPECT_TRUE(file.as_linked.is_exact);
  EXPECT_DOUBLE_EQ(file.as_linked.ratio.estimate, std::exp(-0.05));
  EXPECT_EQ(file.verdict, report::Verdict::kChanged);
  EXPECT_EQ(file.vanishes, Vanishes::kYes);
  EXPECT_THAT(file.spread.refused, HasSubstr("don't differ"));
}

TEST(LayoutVerification, MoreOfAThroughputIsFaster) {
  report::Samples samples = made(5, {.gain = 0.05, .moving_gain = 0});
  samples.responses[0].higher_is_better = true;
  const auto report = verify_layouts(samples, kFiles);
  ASSERT_TRUE(report);
  EXPECT_LT(report->files[0].links.ratio.estimate, 1);
}

TEST(LayoutVerification, WithholdsAndRefuses) {
  report::Samples samples = made(6, {.gain = -0.05});
  samples.incomplete = true;
  const auto withheld = verify_layouts(samples, kFiles);
  EXPECT_EQ(withheld->files[0].verdict, report::Verdict::kWithheld);
  EXPECT_EQ(withheld->files[0].vanishes, Vanishes::kUnsure);
  EXPECT_THAT(render_verification_json(*withheld), HasSubstr("\"vanishes\": \"unsure\""));
  samples = made(2, {.gain = -0.05, .moving_gain = -0.05});
  samples.incomplete = true;
  const std::string early = render_verification_text(*verify_layouts(samples, kFiles), 1000);
  EXPECT_THAT(early, testing::Not(HasSubstr("differ by more than places")));
  EXPECT_THAT(early, HasSubstr("is left\n"));
  EXPECT_FALSE(verify_layouts(samples, "opt"));
  samples.trials[0].values[0] = 0;
  EXPECT_THAT(verify_layouts(samples, kFiles).error().message, HasSubstr("not above 0"));
}

// Eight files that do nothing: at 5 % each, one of three experiments would say of some file that more than its places differs.
TEST(LayoutVerification, AllFilesTogetherKeepTheLevelWhereCodeMoves) {
  int remains = 0;
  constexpr int kMade = 400;
  for (int i = 0; i < kMade; ++i) {
    report::Samples samples = made(40000 + static_cast<uint64_t>(i), {.links = 2, .noise = 0.05});
    for (uint16_t file = 2; file <= 8; ++file) {
      samples.factors[1].levels.push_back("file" + std::to_string(file));
      for (report::Trial trial : made(100000 * file + static_cast<uint64_t>(i), {.links = 2, .noise = 0.05}).trials) {
        if (trial.levels[1] == 0) continue;
        trial.levels[1] = file;
        samples.trials.push_back(std::move(trial));
      }
    }
    const auto report = verify_layouts(samples, kFiles);
    ASSERT_TRUE(report);
    for (const VerifiedFile& file : report->files) {
      if (file.vanishes != Vanishes::kNo) continue;
      ++remains;
      break;
    }
  }
  EXPECT_LT(remains / double{kMade}, 0.05 + 3 * 0.011);
}

// tests/reference/analysis/spread.R
TEST(LayoutVerification, TheIntervalOfASpreadIsFishers) {
  const std::vector<double> file = {1.2, 0.7, 1.9, 1.4, 0.2}, plain = {2.1, 4.4, 0.3, 5.0, 2.2, 3.9};
  const report::Interval ratio = ratio_of_spreads(statistics::moments(file), statistics::moments(plain), 0.05);
  EXPECT_NEAR(ratio.estimate, 0.371036279186907, 1e-12);
  EXPECT_NEAR(ratio.low, 0.136507430130084, 1e-10);
  EXPECT_NEAR(ratio.high, 1.1354238078978, 1e-10);
}

// Intervals of both, over 2,000 made experiments: 10 random links of each build, 2 runs each. Links that differ by the place of
// one function have no tails, so that the interval of the spread holds more than it promises.
TEST(LayoutVerification, IntervalsHoldWhatTheyPromise) {
  int gain = 0, spread = 0, alarms = 0, stepped_gain = 0, stepped_spread = 0;
  constexpr int kMade = 2000;
  for (int i = 0; i < kMade; ++i) {
    const Made steps{.gain = -0.01, .file_sd = 0.01, .noise = 0.0001, .stepped = true};
    const auto stepped = verify_layouts(made(20000 + static_cast<uint64_t>(i), steps), kFiles);
    stepped_gain += stepped->files[0].links.ratio.low <= std::exp(-0.01) && std::exp(-0.01) <= stepped->files[0].links.ratio.high;
    stepped_spread += stepped->files[0].spread.ratio.low <= 0.5 && 0.5 <= stepped->files[0].spread.ratio.high;
    const auto report =
        verify_layouts(made(1000 + static_cast<uint64_t>(i), {.gain = -0.01, .file_sd = 0.01, .noise = 0.0001}), kFiles);
    const VerifiedFile& file = report->files[0];
    gain += file.links.ratio.low <= std::exp(-0.01) && std::exp(-0.01) <= file.links.ratio.high;
    spread += file.spread.ratio.low <= 0.5 && 0.5 <= file.spread.ratio.high;
    alarms +=
        verify_layouts(made(9000 + static_cast<uint64_t>(i), {.file_sd = 0.01}), kFiles)->files[0].links.p_value <= 0.05;
  }
  // 95 and 5 %, give or take three standard errors of 0.0049.
  EXPECT_NEAR(gain / double{kMade}, 0.95, 0.015);
  EXPECT_NEAR(spread / double{kMade}, 0.95, 0.015);
  EXPECT_NEAR(alarms / double{kMade}, 0.05, 0.015);
  EXPECT_NEAR(stepped_gain / double{kMade}, 0.95, 0.015);
  EXPECT_GE(stepped_spread / double{kMade}, 0.95);
}

}  // namespace
}  // namespace stab::analysis
