// What was promised and is yet to be done, what users take, and schedules that are stored in slices.
#include <sqlite3.h>

#include <map>

#include "store_fixture.h"

namespace stab::store {
namespace {

class PromisesTest : public StoreTest {
 protected:
  // How SQLite goes about it.
  std::string query_plan(const std::string& sql) {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    std::string out;
    sqlite3_exec(handle, ("EXPLAIN QUERY PLAN " + sql).c_str(),
                 [](void* to, int, char** values, char**) {
                   *static_cast<std::string*>(to) += values[3];
                   return 0;
                 },
                 &out, nullptr);
    sqlite3_close(handle);
    return out;
  }
};

TEST_F(PromisesTest, AWishToCancelIsDoneByTheNextStart) {
  Store store = open();
  const Id id = ready(store);
  ASSERT_TRUE(store.advance(id, ExperimentEvent::kRun, "", 1).ok());
  begin_next(store, id);
  ASSERT_TRUE(store.wish(id, Wish::kCancel, 2).ok());
  ASSERT_TRUE(store.wish(id, Wish::kPause, 3).ok());  // changes nothing any more
  ASSERT_EQ(store.wishes()->size(), 1u);
  ASSERT_TRUE(store.recover(9, 5).ok());
  EXPECT_EQ(store.summary(id)->state, ExperimentState::kCancelled);
  EXPECT_EQ(store.progress(id)->count(TrialState::kPlanned), 0);
  EXPECT_TRUE(store.wishes()->empty());
  expect_sound(store);
}

TEST_F(PromisesTest, AWishToPauseIsDoneByTheNextStart) {
  Store store = open();
  const Id id = ready(store);
  ASSERT_TRUE(store.wish(id, Wish::kPause, 2).ok());
  ASSERT_TRUE(store.recover(9, 5).ok());
  EXPECT_EQ(store.summary(id)->state, ExperimentState::kPaused);
  EXPECT_TRUE(store.wishes()->empty());
}

TEST_F(PromisesTest, WhatIsDoneIsNotCancelledLater) {
  Store store = open();
  const Id id = ready(store);
  ASSERT_TRUE(store.wish(id, Wish::kCancel, 2).ok());
  finish_experiment(store, id, 3);
  ASSERT_TRUE(store.recover(9, 5).ok());
  EXPECT_EQ(store.summary(id)->state, ExperimentState::kDone);
}

TEST_F(PromisesTest, ADeletionIsSeenAtOnceAndDoneInSlices) {
  Store store = open();
  const Id id = ready(store), other = ready(store);
  ASSERT_TRUE(store.wish(id, Wish::kDelete, 2).ok());
  EXPECT_EQ(store.summary(id).error().code, ErrorCode::kNotFound);
  ASSERT_EQ(store.summaries()->size(), 1u);
  EXPECT_EQ(store.summaries()->front().id, other);
  int slices = 1;
  for (;; ++slices) {
    const auto gone = store.delete_some(id, 3);
    ASSERT_TRUE(gone.ok());
    if (*gone) break;
  }
  EXPECT_GT(slices, 3);
  EXPECT_EQ(store.experiment(id).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store.wishes()->empty());
  expect_sound(store);
}

TEST_F(PromisesTest, AScheduleIsStoredInSlices) {
  Store store = open();
  const Id id = *store.add_experiment(new_experiment());
  Store::Expansion header = small_expansion(3);
  header.trials.clear();
  header.preflight.clear();
  ASSERT_TRUE(store.expand(id, header).ok());
  const std::vector<NewTrial> all = block_trials(0, 3);
  EXPECT_FALSE(store.plan_more(id, TrialKind::kMain, {all.begin() + 4, all.end()}).ok()) << "a slice is left out";
  ASSERT_TRUE(store.plan_more(id, TrialKind::kMain, {all.begin(), all.begin() + 5}).ok());
  EXPECT_FALSE(store.plan_more(id, TrialKind::kMain, {all.begin(), all.begin() + 5}).ok()) << "a slice is stored twice";
  EXPECT_EQ(*store.places(id, TrialKind::kMain), 5);
  ASSERT_TRUE(store.plan_more(id, TrialKind::kMain, {all.begin() + 5, all.end()}).ok());
  ASSERT_TRUE(store.extend(id, {}, 5, 8).ok());
  EXPECT_EQ(*store.stretches(id), (std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 2}}));
  EXPECT_EQ(store.progress(id)->planned_total, 12);
  expect_sound(store);
}

// Whoever sets the clock during a trial takes no hour of the machine from anybody, and gives none.
TEST_F(PromisesTest, DatesAreNoDurations) {
  Store store = open();
  const Id id = *store.add_experiment(new_experiment());
  ASSERT_TRUE(store.expand(id, small_expansion(2)).ok());
  for (const int64_t finished_at_ns : {int64_t{3'600'000'000'000}, int64_t{1}}) {
    const TrialRow trial = *store.next_trial(id).value();
    ASSERT_TRUE(store.claim(trial.id, {"boot", 1'000}).ok());
    Outcome outcome = recorded(trial.id);
    outcome.finished_at_ns = finished_at_ns;
    outcome.machine_ns = 5'000;
    ASSERT_TRUE(store.finish(outcome, 3).ok());
  }
  EXPECT_EQ(store.usage(id)->machine_ns, 10'000);
  EXPECT_LE(store.shares(1)->at(1000), 10'000);
}

// Whose programs end their own helpers, so that each trial is lost in the end, has used the machine.
TEST_F(PromisesTest, WhatIsLostWasUsed) {
  Store store = open();
  const Id id = *store.add_experiment(new_experiment());
  ASSERT_TRUE(store.expand(id, small_expansion(2)).ok());
  const TrialRow trial = *store.next_trial(id).value();
  ASSERT_TRUE(store.claim(trial.id, {"boot", 1'000}).ok());
  Outcome outcome;
  outcome.trial = trial.id;
  outcome.state = TrialState::kLost;
  outcome.finished_at_ns = 6'000;
  outcome.machine_ns = 5'000;
  ASSERT_TRUE(store.finish(outcome, 100).ok());
  EXPECT_EQ(store.usage(id)->machine_ns, 5'000);
  EXPECT_DOUBLE_EQ(store.shares(6'000)->at(1000), 5'000);
}

TEST_F(PromisesTest, WhatAUserTakes) {
  Store store = open();
  NewExperiment mine = new_experiment();
  mine.promised_trials = 8;
  const Id id = *store.add_experiment(mine);
  ASSERT_TRUE(store.expand(id, small_expansion(2)).ok());
  mine.submitter_uid = 7;
  ASSERT_TRUE(store.add_experiment(mine).ok());
  const UserUsage before = *store.usage_of(1000);
  EXPECT_EQ(before.experiments, 1);
  EXPECT_EQ(before.unfinished, 1);
  EXPECT_EQ(before.trials, 8);
  EXPECT_EQ(before.stored_bytes, static_cast<int64_t>(mine.plan_text.size()) + 8 * kTrialBytes);
  const TrialRow trial = *store.next_trial(id).value();
  ASSERT_TRUE(store.claim(trial.id, {"boot", 1'000}).ok());
  Outcome outcome = recorded(trial.id);
  outcome.stdout_head = std::string(5000, 'x');
  outcome.finished_at_ns = 6'000;
  outcome.machine_ns = 5'000;
  ASSERT_TRUE(store.finish(outcome, 3).ok());
  EXPECT_GE(store.usage_of(1000)->stored_bytes, before.stored_bytes + 5000);
  EXPECT_EQ(store.usage(id)->machine_ns, 5'000);
  // Halved after a day.
  EXPECT_DOUBLE_EQ(store.shares(6'000)->at(1000), 5'000);
  EXPECT_DOUBLE_EQ(store.shares(6'000 + kShareHalfLifeNs)->at(1000), 2'500);
  EXPECT_EQ(store.shares(6'000)->count(7), 0u);
  // What is cancelled is still taken; what is deleted is not.
  ASSERT_TRUE(store.cancel(id, "", 9).ok());
  EXPECT_EQ(store.usage_of(1000)->experiments, 1);
  EXPECT_EQ(store.usage_of(1000)->unfinished, 0);
  EXPECT_EQ(*store.stored_bytes_of(1000), store.usage_of(1000)->stored_bytes);
  EXPECT_EQ(*store.stored_bytes_of(1001), 0);
  ASSERT_TRUE(store.delete_experiment(id).ok());
  EXPECT_EQ(store.usage_of(1000)->experiments, 0);
  EXPECT_EQ(store.usage_of(1000)->stored_bytes, 0);
}

// A list of 400 plans of a megabyte each read all of them once.
TEST_F(PromisesTest, ListsDoNotReadPlans) {
  Store store = open();
  NewExperiment large = new_experiment("large");
  large.plan_text = std::string(1 << 20, '#');
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store.add_experiment(large).ok());
  ASSERT_TRUE(store.checkpoint().ok());
  EXPECT_EQ(store.summaries()->size(), 20u);
  EXPECT_EQ(
      query_plan("SELECT id, name, state, failure, submitter_uid, priority, submitted_at_ns, finished_at_ns, schedule_version, "
                 "replicates FROM experiments INDEXED BY experiments_shown"),
      "SCAN experiments USING COVERING INDEX experiments_shown");
}

}  // namespace
}  // namespace stab::store
