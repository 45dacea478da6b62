// One run of a command, and whether it kept a CPU busy: also on a machine whose CPUs others have.
#include "stabctl/sides/probe.h"

#include <gtest/gtest.h>

namespace stab::ctl {
namespace {

using std::chrono::milliseconds;

Probe run(const std::string& script) {
  const engine::StopSignal never;
  auto probed = probe({"/bin/sh", "-c", script}, "/dev/null", "/tmp", {}, std::chrono::seconds(60), never);
  EXPECT_TRUE(probed.ok()) << (probed.ok() ? "" : probed.error().message);
  return probed.ok() ? *std::move(probed) : Probe();
}

// The first run may read files.
Probe again(const std::string& script) {
  run(script);
  return run(script);
}

TEST(Probe, WhatNeverGivesItsCpuUpHasNotWaited) {
  const std::string counts = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
  Probe one = again(counts);
  for (int more = 0; more < 5 && one.waits != 0; ++more) one = run(counts);  // a page of it may have to be read anew
  EXPECT_EQ(one.waits, 0);
  EXPECT_EQ(one.busy(), 1.0);
}

TEST(Probe, StartsNothingWhereNoTimeIsLeft) {
  const engine::StopSignal never;
  for (const auto left : {std::chrono::nanoseconds(0), std::chrono::nanoseconds(-7'174'000'000)}) {
    const auto probed = probe({"/bin/true"}, "/dev/null", "/tmp", {}, left, never);
    ASSERT_FALSE(probed);
    EXPECT_EQ(probed.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(probed.error().message, "no time was left to try '/bin/true'; give it more with --at-most");
  }
}

TEST(Probe, WhatSleepsHas) {
  const Probe one = again("exec sleep 0.05");
  ASSERT_TRUE(one.waits);
  EXPECT_GE(*one.waits, 1);
  EXPECT_LT(one.busy(), 0.9);
}

// A hypervisor's time is nobody's delay, so the times alone say that it waited.
TEST(Probe, OthersHadTheCpuForHalfOfTheTime) {
  Probe one;
  one.wall = milliseconds(100);
  one.user = milliseconds(50);
  EXPECT_DOUBLE_EQ(one.busy(), 0.5);
  one.waits = 1;
  EXPECT_DOUBLE_EQ(one.busy(), 0.5);
  one.waits = 0;
  EXPECT_DOUBLE_EQ(one.busy(), 1);
  one.user = milliseconds(180);  // of several CPUs
  EXPECT_DOUBLE_EQ(one.busy(), 1.8);
}

}  // namespace
}  // namespace stab::ctl
