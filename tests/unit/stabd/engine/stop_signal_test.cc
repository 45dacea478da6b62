// A signal that several runs use one after another: a limit is of one run, and what somebody asked for is of all.
#include "stabd/engine/experiment/stop_signal.h"

#include <gtest/gtest.h>

#include <chrono>

namespace stab::engine {
namespace {

using std::chrono::milliseconds;

// Whether it asks a run to end at once, or within so many milliseconds.
bool is_readable(const StopSignal& stop, int wait_ms) {
  pollfd now{stop.now_fd(), POLLIN, 0};
  return ::poll(&now, 1, wait_ms) > 0;
}

TEST(StopSignal, ALimitIsOfOneRun) {
  StopSignal stop;
  stop.now_after(milliseconds(1));
  EXPECT_TRUE(is_readable(stop, 5000));
  EXPECT_TRUE(stop.ran_out());
  EXPECT_TRUE(stop.asked());
  stop.without_limit();
  EXPECT_FALSE(stop.ran_out());
  EXPECT_FALSE(stop.asked()) << "the next run has not been asked to end";
  EXPECT_FALSE(is_readable(stop, 0));
  stop.now_after(milliseconds(1));
  EXPECT_TRUE(is_readable(stop, 5000)) << "the next run has a limit of its own";
  EXPECT_TRUE(stop.ran_out());
}

TEST(StopSignal, WhatSomebodyAskedForStays) {
  StopSignal stop;
  stop.now_after(milliseconds(1));
  stop.now();
  stop.without_limit();
  EXPECT_TRUE(stop.asked());
  EXPECT_FALSE(stop.ran_out());
  EXPECT_TRUE(is_readable(stop, 0));
}

}  // namespace
}  // namespace stab::engine
