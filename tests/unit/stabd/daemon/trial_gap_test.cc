// The moments between trials that browsers get.
#include "stabd/daemon/requests/trial_gap.h"

#include <gtest/gtest.h>

#include <thread>

namespace stab::daemon {
namespace {

using Clock = std::chrono::steady_clock;

TEST(TrialGap, IsClosedWhileTrialsFollowEachOther) {
  TrialGap gap;
  EXPECT_FALSE(gap.closed());
  gap.trials_begin();
  EXPECT_TRUE(gap.closed());
  gap.trials_end();
  EXPECT_FALSE(gap.closed());
}

TEST(TrialGap, NobodyWaitsWhereNothingDoes) {
  TrialGap gap;
  gap.trials_begin();
  bool woken = false;
  gap.between_trials([&] { woken = true; });
  EXPECT_FALSE(woken);
}

// The engine's thread stands still until what waited is done, and the gap is open as long.
TEST(TrialGap, LastsUntilNothingWaits) {
  TrialGap gap;
  gap.trials_begin();
  gap.waits(true);
  bool open_when_woken = false;
  std::thread loop;
  gap.between_trials([&] {
    open_when_woken = !gap.closed();
    loop = std::thread([&] { gap.waits(false); });
  });
  loop.join();
  EXPECT_TRUE(open_when_woken);
  EXPECT_TRUE(gap.closed());
}

// Whoever asks without end slows an experiment down by a fifth, no more.
TEST(TrialGap, IsBoundedAndRare) {
  TrialGap gap;
  gap.trials_begin();
  gap.waits(true);
  const auto begin = Clock::now();
  gap.between_trials([] {});
  const auto took = Clock::now() - begin;
  EXPECT_GE(took, TrialGap::kLongest);
  EXPECT_LT(took, TrialGap::kLongest * 60);  // a busy machine may be late
  int woken = 0;
  gap.between_trials([&] { ++woken; });
  if (Clock::now() - begin < TrialGap::kEvery) {
    EXPECT_EQ(woken, 0) << "the last gap was just now";
  }
  EXPECT_LE(5 * TrialGap::kLongest, TrialGap::kEvery + TrialGap::kLongest);
}

}  // namespace
}  // namespace stab::daemon
