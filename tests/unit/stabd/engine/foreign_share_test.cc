// Windows as /proc/stat shows them: made busy times, read through clocks that are printed in hundredths of a second.
#include "stabd/engine/results/foreign_share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace stab::engine {
namespace {

constexpr double kMost = 0.02;

// A trial of `count` windows of `window_ms` on `cpus` CPUs of which the program takes half: what a window of it sees of others
// that take `share(window)` of all CPUs.
template <typename Share>
std::vector<WindowOfCpus> trial(size_t count, double window_ms, uint32_t cpus, Share share, Rng& rng) {
  std::vector<WindowOfCpus> windows;
  for (size_t w = 0; w < count; ++w) {
    double seen_idle_ms = 0;
    for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
      const double before = 10 * rng.uniform(), idle = window_ms * (0.5 - share(w));
      seen_idle_ms += 10 * (std::floor((before + idle) / 10) - std::floor(before / 10));
    }
    windows.push_back({1e6 * (cpus * window_ms * 0.5 - seen_idle_ms), 1e6 * cpus * window_ms, true, 0});
  }
  return windows;
}

// Of `trials` trials the share of windows that are left out.
template <typename Share>
double left_out(size_t count, double window_ms, uint32_t cpus, Share share, uint64_t trials = 300) {
  Rng rng(11);
  size_t out = 0;
  for (uint64_t i = 0; i < trials; ++i)
    for (const double one : foreign_shares(trial(count, window_ms, cpus, share, rng), cpus, kMost)) out += one > kMost;
  return static_cast<double>(out) / static_cast<double>(trials * count);
}

auto always(double share) {
  return [share](size_t) { return share; };
}

TEST(ForeignShare, WindowsOfAnIdleMachineCount) {
  for (const double window_ms : {50.0, 100.0, 250.0, 1000.0})
    for (const uint32_t cpus : {1u, 2u, 16u}) {
      EXPECT_LT(left_out(60, window_ms, cpus, always(0), 4000), 0.003) << window_ms << " ms on " << cpus;
      EXPECT_LT(left_out(60, window_ms, cpus, always(0.005)), 0.05) << window_ms << " ms on " << cpus;
    }
}

TEST(ForeignShare, SteadyLoadIsSeenThatNoWindowShows) {
  for (const double window_ms : {50.0, 100.0, 250.0})
    for (const uint32_t cpus : {1u, 2u, 16u})
      EXPECT_GT(left_out(120, window_ms, cpus, always(0.045)), 0.95) << window_ms << " ms on " << cpus;
}

// A thread's waits are read with its every sixteenth sample: one that waits much and computes little has those of several windows
// in one. Here the kernel's work at them is 1.95 ms of each window's 200, others' is 3.05 ms.
TEST(ForeignShare, WaitsThatComeInLateAreOfTheWindowsBefore) {
  std::vector<WindowOfCpus> windows;
  for (size_t w = 0; w < 64; ++w) windows.push_back({5e6, 200e6, true, w % 8 == 7 ? 8 * 195.0 : 0.0});
  for (const double share : foreign_shares(windows, 2, kMost)) EXPECT_LT(share, kMost);
}

TEST(ForeignShare, ABurstTakesItsOwnWindowAlone) {
  const auto burst = [](size_t w) { return w == 30 ? 0.4 : 0.0; };
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const std::vector<double> shares = foreign_shares(trial(60, 100, 2, burst, rng), 2, kMost);
    for (size_t w = 0; w < shares.size(); ++w) EXPECT_EQ(shares[w] > kMost, w == 30) << w;
    EXPECT_NEAR(shares[30], 0.4, 0.1);
  }
}

TEST(ForeignShare, HalfOfATrialIsLeftOutWhereHalfWasLoaded) {
  const auto second_half = [](size_t w) { return w >= 120 ? 0.1 : 0.0; };
  EXPECT_NEAR(left_out(240, 100, 2, second_half), 0.5, 0.06);
}

// Three standard deviations of three windows are 26 ms, of which 6 are 2 %.
TEST(ForeignShare, OfAShortTrialOnlyWhatIsSureCounts) {
  EXPECT_EQ(foreign_shares({{5e6, 100e6, true, 0}, {-5e6, 100e6, true, 0}, {9e6, 100e6, true, 0}}, 1, kMost),
            (std::vector<double>{0, 0, 0}));
  for (const double share : foreign_shares({{10e6, 100e6, true, 0}, {10e6, 100e6, true, 0}, {9e6, 100e6, true, 0}}, 1, kMost))
    EXPECT_NEAR(share, (29 - (3 * 5 * std::sqrt(3.0) - 6)) / 300, 1e-9);
  EXPECT_EQ(foreign_shares({}, 2, kMost), std::vector<double>());
}

// 2 % of 200 ms for 300 waits of 10 us; no more than 2 % for any number, so 5 % are 3.
TEST(ForeignShare, WhatTheKernelDoesForWaitsIsNotForeign) {
  const auto shares = [](double foreign_ns, double waits) {
    return foreign_shares(std::vector<WindowOfCpus>(300, {foreign_ns, 200e6, true, waits}), 2, kMost).front();
  };
  EXPECT_NEAR(shares(5e6, 0), 0.025, 1e-12);
  EXPECT_NEAR(shares(5e6, 200), 0.015, 1e-12);
  EXPECT_NEAR(shares(10e6, 1e6), 0.03, 1e-12);
  // Of one window whose load shows by itself, too.
  EXPECT_NEAR(foreign_shares({{100e6, 200e6, true, 200}}, 2, kMost).front(), 0.49, 1e-12);
}

TEST(ForeignShare, WhatIsNotKnownIsNoPart) {
  const std::vector<double> shares = foreign_shares({{9e9, 100e6, false, 0}, {0, 0, true, 0}, {10e6, 1e9, true, 0}}, 1, kMost);
  EXPECT_EQ(shares, (std::vector<double>{0, 0, 0.01}));
}

}  // namespace
}  // namespace stab::engine
