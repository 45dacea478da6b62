// What browsers may do while trials follow each other.
#include "stabd/daemon/requests/held_browsers.h"

#include <gtest/gtest.h>

#include <functional>

namespace stab::daemon {
namespace {

TEST(HeldBrowsers, WithoutARuleTrialsAreNothingToThem) {
  HeldBrowsers browsers;
  EXPECT_FALSE(browsers.trials_run());
  EXPECT_TRUE(browsers.are_told());
  EXPECT_FALSE(browsers.rest());
  EXPECT_FALSE(browsers.wait());
}

TEST(HeldBrowsers, ObeyTheRuleWhileTrialsRun) {
  for (const DuringTrials rule : {DuringTrials::kLive, DuringTrials::kQuiet, DuringTrials::kOff}) {
    TrialGap gap;
    HeldBrowsers browsers;
    browsers.obey(rule, gap);
    EXPECT_TRUE(browsers.are_told());
    EXPECT_FALSE(browsers.rest() || browsers.wait());
    gap.trials_begin();
    EXPECT_EQ(browsers.are_told(), rule == DuringTrials::kLive);
    EXPECT_EQ(browsers.wait(), rule == DuringTrials::kQuiet);
    EXPECT_EQ(browsers.rest(), rule == DuringTrials::kOff);
    gap.trials_end();
    EXPECT_TRUE(browsers.are_told());
  }
}

// Whether the engine's thread makes a gap for them after `before`; all is settled in it.
bool has_gap(const std::function<void(HeldBrowsers&)>& before) {
  TrialGap gap;
  HeldBrowsers browsers;
  browsers.obey(DuringTrials::kQuiet, gap);
  gap.trials_begin();
  before(browsers);
  bool woken = false;
  gap.between_trials([&] {
    woken = browsers.are_told();
    (void)browsers.take();
    browsers.settle(false);
  });
  EXPECT_FALSE(browsers.are_told()) << "the next trial has begun";
  return woken;
}

TEST(HeldBrowsers, AGapIsMadeWhileSomethingWaits) {
  EXPECT_FALSE(has_gap([](HeldBrowsers&) {}));
  EXPECT_TRUE(has_gap([](HeldBrowsers& browsers) { browsers.hold({1, {}, "one"}); }));
  EXPECT_TRUE(has_gap([](HeldBrowsers& browsers) { browsers.miss_something(); }));
  EXPECT_TRUE(has_gap([](HeldBrowsers& browsers) { browsers.settle(true); }));
  EXPECT_TRUE(has_gap([](HeldBrowsers& browsers) {
    browsers.hold({1, {}, "one"});
    browsers.settle(false);
  })) << "what is held waits, whatever else does";
  EXPECT_FALSE(has_gap([](HeldBrowsers& browsers) {
    browsers.hold({1, {}, "one"});
    EXPECT_EQ(browsers.take().size(), 1u);
    browsers.settle(false);
  }));
}

}  // namespace
}  // namespace stab::daemon
