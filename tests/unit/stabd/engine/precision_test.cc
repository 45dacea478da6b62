// Half widths against R's numbers, what counts once, and that what was known can be gone on from. That it counts
// the report's units is in load_samples_test; that the daemon's watchers are told is in stabctl/daemon_test.
#include "stabd/engine/results/precision.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stab::engine {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr plan::TrialLayout kOwn{}, kSeven{.id = 7, .shared = true, .fixed_code = false};

TEST(Precision, HalfWidthOfAKnownSample) {
  CellTimes times;
  for (const double log_seconds : {0.00, 0.01, 0.02, 0.03}) times.add(log_seconds, kOwn);
  EXPECT_FALSE(times.half_width().has_value()) << "an interval of four says more of t than of them";
  times.add(0.04, kOwn);
  // R: x <- c(0, .01, .02, .03, .04); expm1(qt(.975, 4) * sd(x) / sqrt(5))
  ASSERT_TRUE(times.half_width().has_value());
  EXPECT_NEAR(*times.half_width(), 0.0198264152, 1e-9);
}

// Ten runs of each of five links say as much as five numbers, their means.
TEST(Precision, TrialsOfOneLayoutCountOnce) {
  CellTimes times;
  for (int run = 0; run < 10; ++run)
    for (uint64_t link = 1; link <= 5; ++link)
      times.add(0.01 * static_cast<double>(link - 1) + (run % 2 == 0 ? 1e-5 : -1e-5),
                {.id = link, .shared = true, .fixed_code = true});
  EXPECT_EQ(times.units().n, 5);
  ASSERT_TRUE(times.half_width().has_value());
  EXPECT_NEAR(*times.half_width(), 0.0198264152, 1e-9);
}

TEST(Precision, TheWidestCellCountsOnceAllHaveEnough) {
  Precision precision;
  EXPECT_FALSE(precision.widest().has_value());
  for (int i = 0; i < 10; ++i) precision.add("p", "code=off", kSecond + i, kOwn);
  ASSERT_TRUE(precision.widest().has_value());
  EXPECT_LT(*precision.widest(), 1e-8);
  for (int i = 0; i < 4; ++i) precision.add("p", "code=shuffle", kSecond + i * kSecond / 10, kOwn);
  EXPECT_FALSE(precision.widest().has_value()) << "four trials say little of their cell";
  precision.add("p", "code=shuffle", kSecond * 14 / 10, kOwn);
  EXPECT_GT(*precision.widest(), 0.1);
  precision.add("p", "code=shuffle", 0, kOwn);
  EXPECT_EQ(precision.cells().size(), 2u);
  EXPECT_EQ(precision.cells()[1].units().n, 5) << "a time of 0 has no logarithm";
}

TEST(Precision, GoesOnFromWhatWasKnown) {
  Precision whole, first;
  const auto time = [](int i) { return kSecond + i * 1'000'000; };
  for (int i = 0; i < 20; ++i) whole.add("p", "c", time(i), i % 3 == 0 ? kSeven : kOwn);
  for (int i = 0; i < 7; ++i) first.add("p", "c", time(i), i % 3 == 0 ? kSeven : kOwn);
  Precision second;
  second.add(first.cells().front());
  for (int i = 7; i < 20; ++i) second.add("p", "c", time(i), i % 3 == 0 ? kSeven : kOwn);
  EXPECT_NEAR(*second.widest(), *whole.widest(), 1e-12);
}

// Ten runs of the only link are repeats of it. Ten runs of the only seed so far are one draw of many.
TEST(Precision, RepeatsOfOneBinaryAreCounted) {
  CellTimes binary, seed;
  for (int run = 0; run < 10; ++run) {
    binary.add(0.01 * run, {.id = 1, .shared = true, .fixed_code = true});
    seed.add(0.01 * run, kSeven);
  }
  EXPECT_EQ(binary.units().n, 10);
  // R: x <- (0:9) / 100; expm1(qt(.975, 9) * sd(x) / sqrt(10))
  ASSERT_TRUE(binary.half_width().has_value());
  EXPECT_NEAR(*binary.half_width(), 0.02189475, 1e-7);
  EXPECT_EQ(seed.units().n, 1);
  EXPECT_FALSE(seed.half_width().has_value());
}

}  // namespace
}  // namespace stab::engine
