// How often is a layout said to be slow that is like the mean of layouts, and how often is one found that is not? By simulated
// replays through the whole report: where layouts differ more or less than runs do, where few layouts are much slower, where the
// machine drifts, and where fresh layouts are a few links that come back. docs/evaluation/records/calibration.md has the rates.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "analysis/report/report_data/report.h"
#include "tests/unit/analysis/made_replay.h"

namespace stab::analysis {
namespace {

constexpr int kRounds = 4000;
constexpr double kAlpha = 0.05;

double limit(double rate) { return 4 * std::sqrt(rate * (1 - rate) / kRounds); }

struct Rates {
  double slow = 0, fast = 0, moment = 0, unsure = 0;
};

Rates rates_of(uint64_t first_seed, const char* words, const ReplayShape& shape) {
  Rates out;
  for (int i = 0; i < kRounds; ++i) {
    const auto report = report::analyse(replay_samples(first_seed + static_cast<uint64_t>(i), shape), report::Depth::kVerdicts);
    EXPECT_TRUE(report && report->replay);
    if (!report || !report->replay) return out;
    const bool layout = report->replay->cause == report::Cause::kLayout || report->replay->cause == report::Cause::kBoth;
    const bool up = report->contrasts[0].interval.estimate > 1;
    out.slow += layout && up;
    out.fast += layout && !up;
    out.moment += report->replay->cause == report::Cause::kMoment;
    out.unsure += report->replay->cause == report::Cause::kUnsure;
  }
  for (double* rate : {&out.slow, &out.fast, &out.moment, &out.unsure}) *rate /= kRounds;
  std::printf("rate %-46s slow %.4f  fast %.4f  moment %.4f  unsure %.4f\n", words, out.slow, out.fast, out.moment, out.unsure);
  return out;
}

// Both ways together as often as alpha at most, whatever the trial was said to be.
void expect_few_alarms(const Rates& rates) { EXPECT_LE(rates.slow + rates.fast, kAlpha + limit(kAlpha)); }

TEST(ReplayCalibration, ALayoutLikeOthersIsRarelySaidToBeSlow) {
  const Rates plain = rates_of(1, "layouts 2 %, runs 0.5 %, 20 times", {});
  expect_few_alarms(plain);
  EXPECT_GE(plain.slow + plain.fast, kAlpha - limit(kAlpha)) << "not for want of power";
  expect_few_alarms(rates_of(10'000, "layouts 0.2 %, runs 1 %", {.layout_sd = 0.002, .noise = 0.01}));
  expect_few_alarms(rates_of(20'000, "5 times", {.times = 5}));
  expect_few_alarms(rates_of(30'000, "the machine drifts by 10 %", {.block_sd = 0.1}));
  expect_few_alarms(rates_of(40'000, "5 links that come back 4 times each", {.links = 5}));
  expect_few_alarms(rates_of(50'000, "4 links, 10 times each, quiet runs", {.times = 40, .noise = 0.001, .links = 4}));
}

// Where few layouts are much slower than the rest (an exponential), a sample of 20 often has none of these: its mean lies too low
// and its spread is too small, and a layout that is like the mean of all is called slow somewhat more often than promised. More
// runs mend that.
TEST(ReplayCalibration, FewSlowLayoutsCostALittle) {
  const Rates few = rates_of(60'000, "few layouts much slower, 20 times", {.skewed = true});
  EXPECT_LE(few.slow, 0.075);
  EXPECT_LE(few.slow + few.fast, 0.085);
  const Rates more = rates_of(65'000, "few layouts much slower, 80 times", {.times = 80, .skewed = true});
  EXPECT_LE(more.slow, 0.055);
}

// A trial that was 6 % slower than its cell, for nothing but its moment: its layout is like others.
TEST(ReplayCalibration, ABadMomentIsCalledOne) {
  const Rates rates = rates_of(70'000, "a moment of 6 %, 20 times", {.excess = 0.06});
  expect_few_alarms(rates);
  EXPECT_GE(rates.moment, 0.9);
}

TEST(ReplayCalibration, ABadLayoutIsFound) {
  const Rates rates = rates_of(80'000, "a layout of 3 %, 20 times", {.effect = 0.03, .excess = 0.03});
  EXPECT_GE(rates.slow, 0.95);
  EXPECT_LE(rates.moment, 0.01);
}

}  // namespace
}  // namespace stab::analysis
