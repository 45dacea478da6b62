// What is said of the same trials is computed once, and is not kept for ever.
#include "stabd/daemon/answers/watched_results.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace stab::daemon {
namespace {

Watched sized(size_t bytes) { return {std::string(bytes, 'x'), {}, {}}; }

TEST(WatchedResultsTest, IsComputedOnceForEachStandOfTheTrials) {
  WatchedResults results;
  int made = 0;
  const auto make = [&]() -> Result<Watched> { return Watched{"[" + std::to_string(++made) + "]", {}, {}}; };
  EXPECT_EQ((*results.of(1, "10 recorded", make))->cells, "[1]");
  EXPECT_EQ((*results.of(1, "10 recorded", make))->cells, "[1]");
  EXPECT_EQ((*results.of(2, "10 recorded", make))->cells, "[2]") << "another experiment";
  EXPECT_EQ((*results.of(1, "11 recorded", make))->cells, "[3]");
  EXPECT_EQ((*results.of(1, "11 recorded", make))->cells, "[3]");
}

TEST(WatchedResultsTest, AFailureIsNotKept) {
  WatchedResults results;
  const auto fails = []() -> Result<Watched> { return bad_input("not yet"); };
  EXPECT_FALSE(results.of(1, "a", fails).ok());
  EXPECT_TRUE(results.of(1, "a", [] { return Result<Watched>(sized(1)); }).ok());
}

TEST(WatchedResultsTest, WhoAsksMeanwhileGetsTheSame) {
  WatchedResults results;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      (void)results.of(1, "a", [&]() -> Result<Watched> {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return sized(1);
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(WatchedResultsTest, WhatWasAskedForLongestAgoGoesFirst) {
  WatchedResults results;
  int made = 0;
  const auto make = [&]() -> Result<Watched> {
    ++made;
    return sized(WatchedResults::kMostBytes / 2);
  };
  for (const store::Id experiment : {1, 2, 1, 3}) (void)results.of(experiment, "a", make);
  EXPECT_EQ(made, 3);
  (void)results.of(1, "a", make);
  EXPECT_EQ(made, 3) << "it was asked for after the second one, which is gone";
  (void)results.of(2, "a", make);
  EXPECT_EQ(made, 4);
  for (store::Id experiment = 10; experiment < 10 + 2 * static_cast<store::Id>(WatchedResults::kMostExperiments); ++experiment)
    (void)results.of(experiment, "a", [] { return Result<Watched>(sized(1)); });
  (void)results.of(2, "a", make);
  EXPECT_EQ(made, 5) << "their number is bounded, too";
}

TEST(WatchedResultsTest, AMarkSaysHowTrialsStand) {
  store::ExperimentSummary row;
  row.state = store::ExperimentState::kRunning;
  store::Progress progress;
  progress.by_state[store::TrialState::kRecorded] = 1;
  const std::string before = mark_of(row, progress, true);
  EXPECT_EQ(mark_of(row, progress, true), before);
  EXPECT_NE(mark_of(row, progress, false), before);
  progress.by_state[store::TrialState::kRecorded] = 2;
  EXPECT_NE(mark_of(row, progress, true), before);
  progress.by_state[store::TrialState::kRecorded] = 1;
  row.state = store::ExperimentState::kDone;
  EXPECT_NE(mark_of(row, progress, true), before);
}

}  // namespace
}  // namespace stab::daemon
