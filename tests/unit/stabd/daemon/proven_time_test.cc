// A clock that is set forward, or starts wrong, makes nothing old that time has not.
#include "stabd/daemon/upkeep/proven_time.h"

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"

namespace stab::daemon {
namespace {

using std::chrono::hours;

constexpr int64_t kHour = std::chrono::nanoseconds(hours(1)).count(), kDay = 24 * kHour;

TEST(ProvenTime, ARightClockIsFollowed) {
  const ProvenTime first = proven(std::nullopt, 1000 * kDay, kHour, "a");
  EXPECT_EQ(first.date_ns, 1000 * kDay);
  const ProvenTime later = proven(first, 1003 * kDay, 3 * kDay + kHour, "a");
  EXPECT_EQ(later.date_ns, 1003 * kDay);
  EXPECT_EQ(proven(later, 1003 * kDay + 7 * kHour, kHour, "b").date_ns, 1003 * kDay + 7 * kHour)
      << "the machine was off for six hours";
}

TEST(ProvenTime, AClockThatIsAheadForDaysMakesThemTwiceAsLongAtMost) {
  const ProvenTime first{1000 * kDay, kHour, "a"};
  const ProvenTime ahead = proven(first, 1400 * kDay, kHour + 3 * kDay, "a");
  EXPECT_EQ(ahead.date_ns, 1006 * kDay);
  EXPECT_EQ(proven(ahead, 1004 * kDay, kHour + 4 * kDay, "a").date_ns, 1006 * kDay) << "it doesn't go back";
}

TEST(ProvenTime, StartsAreADayEach) {
  ProvenTime time{1000 * kDay, kHour, "a"};
  for (const char* boot : {"b", "c", "d"}) time = proven(time, 9000 * kDay, 0, boot);
  EXPECT_EQ(time.date_ns, 1003 * kDay);
  EXPECT_EQ(proven({{1000 * kDay, 5 * kHour, "a"}}, 9000 * kDay, kHour, "a").date_ns, 1001 * kDay + 2 * kHour)
      << "a start whose number is not told apart";
}

TEST(ProvenTime, AMonthWithoutTheMachineIsCaughtUpWith) {
  ProvenTime time = proven({{1000 * kDay, kHour, "a"}}, 1030 * kDay, 0, "b");
  EXPECT_EQ(time.date_ns, 1001 * kDay);
  time = proven(time, 1060 * kDay, 30 * kDay, "b");
  EXPECT_EQ(time.date_ns, 1060 * kDay);
}

TEST(ProvenTime, AFileKeepsItBetweenDaemons) {
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/proven-time";
  FakeClock clock;
  clock.advance(1000 * hours(24));
  EXPECT_EQ(proven_now_ns(file, clock, "a"), 1000 * kDay);
  clock.step_realtime(400 * hours(24));
  clock.advance(hours(1));
  EXPECT_EQ(proven_now_ns(file, clock, "a"), 1000 * kDay + 2 * kHour);
  clock.step_realtime(-1300 * hours(24));
  EXPECT_EQ(proven_now_ns(file, clock, "a"), 100 * kDay + kHour) << "never after the clock's";
  clock.step_realtime(900 * hours(24));
  EXPECT_EQ(proven_now_ns(file, clock, "a"), 1000 * kDay + kHour);
  directory.write("proven-time", "nonsense");
  EXPECT_EQ(proven_now_ns(file, clock, "a"), 1000 * kDay + kHour);
  EXPECT_EQ(proven_now_ns(directory.path() + "/absent/file", clock, "a"), 1000 * kDay + kHour) << "the clock is believed";
}

}  // namespace
}  // namespace stab::daemon
