// What the analysis is given: which trials are samples and which are not, values that were not to be had with their
// reasons, and that reading neither waits nor writes.
#include "store_fixture.h"

#include <sqlite3.h>

namespace stab::store {
namespace {

class ReadingTest : public StoreTest {
 protected:
  // Records all trials; the wall time of a trial is 1 s + its order in ms.
  void record_all(Store& store, Id id) {
    while (store.next_trial(id)->has_value()) {
      const TrialRow trial = begin_next(store, id);
      Outcome outcome = recorded(trial.id, 1.0 + trial.order / 1000.0);
      if (trial.order == 2) outcome.excluded_by = {"migrations > 0"};
      ASSERT_TRUE(store.finish(outcome, 3).ok());
    }
  }
};

TEST_F(ReadingTest, SamplesAreTheRecordedMainTrialsInOrder) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow preflight = begin_next(store, id, TrialKind::kPreflight);
  ASSERT_TRUE(store.finish(recorded(preflight.id), 3).ok());
  const TrialRow failed = begin_next(store, id);
  ASSERT_TRUE(store.finish(not_recorded(failed.id), 3).ok());
  record_all(store, id);
  const auto samples = *store.samples(id, "wall_time");
  ASSERT_EQ(samples.size(), 8u);
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(samples[i].order, i);
    EXPECT_NEAR(*samples[i].value, 1.0 + i / 1000.0, 2e-9);
    EXPECT_EQ(samples[i].layouts_executed, 40);
    EXPECT_EQ(samples[i].excluded, i == 2);
    EXPECT_EQ(samples[i].seed, 0xf000000000000000u + i);
  }
  EXPECT_EQ(samples[3].subject, 1);
  EXPECT_EQ(samples[3].cell, 1);
  EXPECT_EQ(samples[5].block, 1u);
  EXPECT_EQ(samples[4].link, 1);
}

TEST_F(ReadingTest, WhatTrialsPrintedIsCountedByPlace) {
  Store store = open();
  const Id id = ready(store);
  for (uint32_t i = 0; store.next_trial(id)->has_value(); ++i) {
    const TrialRow trial = begin_next(store, id);
    Outcome outcome = recorded(trial.id);
    outcome.stdout_sha256 = trial.cell == 0 ? "one" : i % 2 == 0 ? "two" : "three";
    outcome.stdout_bytes = 7;
    outcome.exit_status = trial.cell;
    ASSERT_TRUE(store.finish(outcome, 3).ok());
  }
  const std::vector<DoneRow> done = *store.done(id);
  int64_t all = 0;
  for (const DoneRow& row : done) {
    EXPECT_EQ(row.stdout_sha256 == "one", row.cell == 0);
    EXPECT_EQ(row.stdout_bytes, 7);
    EXPECT_EQ(row.exit_status, row.cell);
    all += row.trials;
  }
  EXPECT_EQ(all, 8);
}

// A list asks for all of them at once.
TEST_F(ReadingTest, AListSaysOfEachWhatIsSaidOfItAlone) {
  Store store = open();
  const auto add = [&](int64_t uid) {
    NewExperiment one = new_experiment();
    one.submitter_uid = uid;
    return *store.add_experiment(one);
  };
  const Id mine = add(1000), others = add(1001), waits = add(1000), failing = add(1000);
  for (const Id id : {mine, others, failing}) ASSERT_TRUE(store.expand(id, small_expansion(1)).ok());
  record_all(store, others);
  const TrialRow failed = begin_next(store, failing);
  Outcome outcome = not_recorded(failed.id);
  outcome.machine_ns = 70;
  ASSERT_TRUE(store.finish(outcome, 3).ok());
  ASSERT_TRUE(store.grant_slot(mine, 0, "host", 5).ok());

  const auto expect_listed = [&](const std::map<Id, Listed>& listed, Id id) {
    const auto found = listed.find(id);
    const Listed is = found == listed.end() ? Listed() : found->second;
    const Progress alone = *store.progress(id);
    EXPECT_EQ(is.progress.by_state, alone.by_state) << id;
    EXPECT_EQ(is.progress.planned_total, alone.planned_total) << id;
    EXPECT_EQ(is.progress.attempts, alone.attempts) << id;
    EXPECT_EQ(is.machine_ns, store.usage(id)->machine_ns) << id;
    EXPECT_EQ(is.has_slots, !store.slot_epochs(id)->empty()) << id;
  };
  const auto of_all = *store.listed({}, 1), of_user = *store.listed(1000, 1), later = *store.listed(1000, waits);
  for (const Id id : {mine, others, waits, failing}) expect_listed(of_all, id);
  for (const Id id : {mine, waits, failing}) expect_listed(of_user, id);
  EXPECT_EQ(of_all.at(failing).machine_ns, 70);
  EXPECT_EQ(of_all.at(failing).progress.attempts, 5);
  EXPECT_TRUE(of_all.at(mine).has_slots);
  EXPECT_FALSE(of_user.contains(others)) << "another user's";
  EXPECT_FALSE(later.contains(mine));
  expect_listed(later, failing);
}

// A file of somebody else's: what does not fit is no other number.
TEST_F(ReadingTest, ANumberThatDoesNotFitMakesARowUnreadable) {
  Id id = 0;
  {
    Store store = open();
    id = ready(store);
    record_all(store, id);
  }
  const auto set = [&](const std::string& statement) {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  };
  set("UPDATE trials SET block = 4294967297 WHERE position = 3");
  Store store = open();
  const auto samples = store.samples(id, "wall_time");
  ASSERT_FALSE(samples.ok());
  EXPECT_EQ(samples.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(samples.error().message.find("has 4294967297 in a column 'block'"), std::string::npos) << samples.error().message;
  EXPECT_EQ(store.trial_facts(id, {}, [](const std::string&) {}).error().code, ErrorCode::kCorrupt);
  set("UPDATE trials SET block = 1 WHERE position = 3; UPDATE outcomes SET signal = -2147483649");
  const auto mended = store.samples(id, "wall_time");
  EXPECT_TRUE(mended.ok()) << mended.error().message;
  const auto outcome = store.outcome(mended->front().trial);
  ASSERT_FALSE(outcome.ok()) << "columns that may be null";
  EXPECT_EQ(outcome.error().code, ErrorCode::kCorrupt);
}

TEST_F(ReadingTest, CpuTimeIsUserAndSystemTimeTogether) {
  Store store = open();
  const Id id = ready(store);
  Outcome outcome = recorded(begin_next(store, id).id);
  outcome.user_ns = 400'000'000;
  outcome.system_ns = 30'000'001;
  ASSERT_TRUE(store.finish(outcome, 3).ok());
  EXPECT_DOUBLE_EQ(*(*store.samples(id, "cpu_time"))[0].value, 0.430000001);
}

TEST_F(ReadingTest, CountersThatWereNotHadAreSamplesWithoutValueAndAReason) {
  Store store = open();
  const Id id = ready(store);
  record_all(store, id);
  const auto cycles = *store.samples(id, "cycles");
  ASSERT_EQ(cycles.size(), 8u);
  for (const SampleRow& sample : cycles) EXPECT_FALSE(sample.value.has_value());
  EXPECT_EQ(store.missing_reasons(id, "cycles")->at("no PMU"), 8);
  EXPECT_TRUE(store.missing_reasons(id, "task-clock")->empty());
  EXPECT_DOUBLE_EQ(*(*store.samples(id, "task-clock"))[0].value, 1.5);
  EXPECT_DOUBLE_EQ(*(*store.samples(id, "user_time"))[0].value, 0.4);
  EXPECT_FALSE((*store.samples(id, "cpu_time"))[0].value.has_value()) << "a sum of which a part isn't known";
  EXPECT_FALSE((*store.samples(id, "max_rss"))[0].value.has_value());
  EXPECT_TRUE(store.samples(id, "no-such-event")->empty());
  const std::vector<std::string> names = *store.response_names(id);
  EXPECT_EQ(names, (std::vector<std::string>{"wall_time", "cpu_time", "user_time", "system_time", "max_rss", "region_time",
                                             "cycles", "task-clock"}));
}

TEST_F(ReadingTest, RegionTimeIsInTheDoseReport) {
  Store store = open();
  const Id id = ready(store);
  int regions = 0;
  while (store.next_trial(id)->has_value()) {
    Outcome outcome = recorded(begin_next(store, id).id);
    if (++regions == 1) outcome.dose_json = R"({"abi":1,"region":{"regions":2,"wall_ns":1500000000}})";
    if (regions == 2) outcome.dose_json = R"({"abi":1})";
    if (regions == 3) outcome.dose_json = "torn";
    ASSERT_TRUE(store.finish(outcome, 3).ok());
  }
  const auto samples = *store.samples(id, "region_time");
  ASSERT_EQ(samples.size(), 8u);
  EXPECT_DOUBLE_EQ(*samples[0].value, 1.5);
  for (size_t i = 1; i < 8; ++i) EXPECT_FALSE(samples[i].value.has_value()) << i;
}

TEST_F(ReadingTest, LaterPassesOverTheCountersAreNoReplicatesOfTheTime) {
  Store store = open();
  const Id id = *store.add_experiment(new_experiment());
  Store::Expansion expansion = small_expansion(2);
  for (NewTrial& trial : expansion.trials) trial.pass = static_cast<int>(trial.order % 2);
  ASSERT_TRUE(store.expand(id, expansion).ok());
  record_all(store, id);
  EXPECT_EQ(store.samples(id, "wall_time")->size(), 4u);
  EXPECT_EQ(store.samples(id, "task-clock")->size(), 8u);
}

TEST_F(ReadingTest, AReaderSeesCommittedDataWhileAWriteIsOpen) {
  Store writer = open();
  const Id id = ready(writer);
  Store reader = open(Store::Access::kRead);
  const TrialRow trial = begin_next(writer, id);
  auto transaction = *writer.begin();
  ASSERT_TRUE(writer.finish(recorded(trial.id), 3).ok());
  EXPECT_EQ(reader.progress(id)->by_state[TrialState::kRecorded], 0);  // neither waits nor sees half of it
  ASSERT_TRUE(transaction.commit().ok());
  EXPECT_EQ(reader.progress(id)->by_state[TrialState::kRecorded], 1);
}

// Its journal is to be rolled back, which only a writer may do.
TEST_F(ReadingTest, ADatabaseWhoseMakerWasKilledSaysWhatSetsItRight) {
  const std::string unfinished = directory_ + "/unfinished.db";
  sqlite3* maker = nullptr;
  ASSERT_EQ(sqlite3_open(unfinished.c_str(), &maker), SQLITE_OK);
  const char killed_within[] =
      "PRAGMA cache_size = 1; CREATE TABLE t(x); BEGIN; INSERT INTO t WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 "
      "FROM n "
      "WHERE i < 1000) SELECT zeroblob(100) FROM n";
  ASSERT_EQ(sqlite3_exec(maker, killed_within, nullptr, nullptr, nullptr), SQLITE_OK);
  std::filesystem::copy(unfinished, path_);
  std::filesystem::copy(unfinished + "-journal", path_ + "-journal");
  sqlite3_close(maker);

  const auto read = Store::open(path_, Store::Access::kRead);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("was killed before it was complete: if it is yours, 'stabctl resume'"), std::string::npos)
      << read.error().message;
}

TEST_F(ReadingTest, AReaderCanNotWrite) {
  Store writer = open();
  const Id id = ready(writer);
  Store reader = open(Store::Access::kRead);
  const Status denied = reader.set_priority(id, 1);
  ASSERT_FALSE(denied.ok());
  EXPECT_EQ(denied.error().code, ErrorCode::kDenied);
}

}  // namespace
}  // namespace stab::store
