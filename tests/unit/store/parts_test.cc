// Blocks that run elsewhere: a part is taken in once, whole, and only of its slot's newest epoch; what is torn, foreign or
// forged changes nothing.
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "store/sqlite.h"
#include "store_fixture.h"

namespace stab::store {
namespace {

constexpr int64_t kPlaces = 4;  // of a block, as the fixture makes them

class PartsTest : public StoreTest {
 protected:
  PartLabel label(int slot, int64_t epoch, uint32_t block) const { return {"identity", slot, epoch, 0, block}; }

  // The part that a worker of its own store makes of a block.
  std::string part(Store& lab, Id id, const PartLabel& label, double seconds = 0.5, bool fail_first = false) {
    const std::string name = directory_ + "/" + std::to_string(files_++);
    EXPECT_TRUE(lab.bundle(id, name + ".bundle").ok());
    Result<Store> worker = Store::open(name + ".db", Store::Access::kWrite);
    EXPECT_TRUE(worker.ok());
    const Result<Id> copy = worker->import_experiment(name + ".bundle", 1);
    EXPECT_TRUE(copy.ok());
    EXPECT_TRUE(worker->keep_blocks(*copy, {label.block}).ok());
    while (worker->next_trial(*copy)->has_value()) {
      const TrialRow trial = begin_next(*worker, *copy);
      const bool fails = std::exchange(fail_first, false);
      EXPECT_TRUE(worker->finish(fails ? not_recorded(trial.id) : recorded(trial.id, seconds), 3).ok());
    }
    EXPECT_EQ(*worker->open_places(*copy, kPlaces * label.block, kPlaces), 0);
    const Status written = worker->write_part(*copy, label, kPlaces * label.block, kPlaces, name + ".part");
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
    return name + ".part";
  }
  PartVerdict take(Store& lab, Id id, const PartLabel& label, const std::string& sha256, const std::string& path,
                   int64_t at_ns = 9) {
    const auto verdict = lab.import_part(id, label, kPlaces * label.block, kPlaces, sha256, path, at_ns);
    EXPECT_TRUE(verdict.ok()) << (verdict.ok() ? "" : verdict.error().message);
    return verdict ? *verdict : PartVerdict();
  }
  // A copy of the part with this done to it.
  std::string changed(const std::string& part, const std::string& name, const std::string& sql) {
    const std::string path = directory_ + "/" + name;
    std::filesystem::copy(part, path);
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    sqlite3_close(handle);
    return path;
  }
  int64_t recorded_in(Store& lab, Id id) { return lab.progress(id)->count(TrialState::kRecorded); }

  int files_ = 0;
};

TEST_F(PartsTest, IsTakenInOnceWithAllAttempts) {
  Store lab = open();
  const Id id = ready(lab, 3);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  const std::string file = part(lab, id, label(0, 1, 1), 0.25, true);
  const PartVerdict first = take(lab, id, label(0, 1, 1), "aa", file);
  EXPECT_EQ(first.fate, PartFate::kRecorded) << first.why;
  EXPECT_EQ(first.recorded, 4);
  EXPECT_EQ(recorded_in(lab, id), 4);
  EXPECT_EQ(lab.progress(id)->attempts, 13);
  const auto samples = *lab.samples(id, "wall_time");
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].block, 1u);
  EXPECT_DOUBLE_EQ(*samples[0].value, 0.25);
  EXPECT_EQ(lab.outcome(samples[0].trial)->ledger.at("steal_ns"), 12);
  EXPECT_EQ(*lab.epochs(samples[0].trial), recorded(1).epochs);
  EXPECT_EQ(lab.missing_reasons(id, "cycles")->at("no PMU"), 4);
  expect_sound(lab);
  EXPECT_EQ(take(lab, id, label(0, 1, 1), "aa", file).fate, PartFate::kDuplicate);
  EXPECT_EQ(recorded_in(lab, id), 4);
  expect_sound(lab);
}

TEST_F(PartsTest, OfAnOlderEpochIsKeptAsSupersededAndNeverCounts) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  const std::string zombie = part(lab, id, label(0, 1, 0), 0.1), living = part(lab, id, label(0, 2, 0), 0.2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "there", 6), 2);
  EXPECT_EQ(take(lab, id, label(0, 1, 0), "aa", zombie).fate, PartFate::kSuperseded);
  EXPECT_EQ(recorded_in(lab, id), 0);
  EXPECT_EQ(take(lab, id, label(0, 2, 0), "bb", living).fate, PartFate::kRecorded);
  EXPECT_EQ(*lab.samples(id, "wall_time")->at(0).value, 0.2);
  EXPECT_EQ(lab.parts(id)->size(), 2u);
  EXPECT_EQ(lab.parts(id)->at(0).fate, PartFate::kSuperseded);
  ASSERT_EQ(lab.recorded_parts(id)->size(), 1u);
  EXPECT_EQ(lab.recorded_parts(id)->at(0).slot, 0);
  EXPECT_EQ(lab.recorded_parts(id)->at(0).parts, 1);
  EXPECT_EQ(lab.recorded_parts(id)->at(0).newest_at_ns, 9);
  expect_sound(lab);
}

TEST_F(PartsTest, ThatIsTornForeignOrForgedChangesNothing) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  const PartLabel good = label(0, 1, 0);
  const std::string whole = part(lab, id, good);
  const std::string torn = directory_ + "/torn", text = directory_ + "/text";
  std::filesystem::copy(whole, torn);
  std::filesystem::resize_file(torn, std::filesystem::file_size(whole) / 2);
  std::ofstream(text) << "no database";
  PartLabel other = good;
  other.identity = "another";
  EXPECT_EQ(take(lab, id, good, "t", torn).fate, PartFate::kRefused);
  EXPECT_EQ(take(lab, id, good, "x", text).why, "it is no SQLite file");
  EXPECT_EQ(take(lab, id, label(0, 1, 1), "b", whole).why, "its block is '0', expected '1'");
  EXPECT_EQ(take(lab, id, other, "i", whole).why, "its experiment is 'identity', expected 'another'");
  EXPECT_EQ(take(lab, id, label(0, 2, 0), "e", whole).why, "its slot has no epoch 2");
  EXPECT_EQ(take(lab, id, label(3, 1, 0), "s", whole).why, "its slot has no epoch 1");
  EXPECT_EQ(recorded_in(lab, id), 0);
  EXPECT_EQ(lab.parts(id)->size(), 6u);
  EXPECT_EQ(take(lab, id, good, "w", whole).fate, PartFate::kRecorded);
  // Another part of the same block, of the same epoch: a second worker that has no right to be.
  const PartVerdict again = take(lab, id, good, "w2", whole);
  EXPECT_EQ(again.fate, PartFate::kRefused);
  EXPECT_EQ(again.why, "it has 4 places that are taken here already");
  EXPECT_EQ(recorded_in(lab, id), 4);
  expect_sound(lab);
}

// A row of the schema may say that it is a table; what its text makes is what counts.
TEST_F(PartsTest, OneWhoseTablesAreSomethingElseIsRefused) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  const std::string whole = part(lab, id, label(0, 1, 0));
  const std::string views = "DROP TABLE exclusions; CREATE VIEW exclusions AS SELECT id AS trial, 'slow' AS rule FROM trials; ";
  const std::string forged = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'table' WHERE name = 'exclusions'";
  const std::string triggers = "CREATE TRIGGER watched AFTER DELETE ON trials BEGIN DELETE FROM outcomes; END";
  const std::string virtual_ones = "DROP TABLE exclusions; CREATE VIRTUAL TABLE exclusions USING fts5(trial, rule)";
  // What is computed when it is read takes no room in the file.
  const std::string computed =
      "DROP TABLE part; CREATE TABLE part(key TEXT, value AS (hex(zeroblob(4999999)))); "
      "INSERT INTO part(key) VALUES('format')";
  const std::string more = "CREATE TABLE more(x)", index = "CREATE INDEX more ON trials(id)";
  int files = 0;
  for (const std::string& change : {views, views + forged, triggers, virtual_ones, computed, more, index}) {
    const std::string name = "strange" + std::to_string(files++);
    const PartVerdict verdict = take(lab, id, label(0, 1, 0), name, changed(whole, name, change));
    EXPECT_EQ(verdict.fate, PartFate::kRefused) << change;
    // Where a row's kind and its text disagree SQLite says so itself.
    const bool by_us = verdict.why == "its tables are not those of a part";
    EXPECT_TRUE(by_us || (change == views + forged && verdict.why.find("malformed") != std::string::npos)) << verdict.why;
  }
  EXPECT_EQ(recorded_in(lab, id), 0);
  expect_sound(lab);
}

TEST_F(PartsTest, OneWhoseRowsAreSomethingElseIsRefused) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  const std::string whole = part(lab, id, label(0, 1, 0));
  const std::string path = changed(whole, "strange", "UPDATE outcomes SET wall_ns = 'long'");
  const PartVerdict verdict = take(lab, id, label(0, 1, 0), "strange", path);
  EXPECT_EQ(verdict.fate, PartFate::kRefused);
  EXPECT_TRUE(verdict.why.starts_with("its rows are not those of a part: ")) << verdict.why;
  EXPECT_EQ(recorded_in(lab, id), 0);
  expect_sound(lab);
  // It is settled, and the whole one is taken in.
  EXPECT_EQ(take(lab, id, label(0, 1, 0), "strange", path).fate, PartFate::kDuplicate);
  EXPECT_EQ(take(lab, id, label(0, 1, 0), "whole", whole).fate, PartFate::kRecorded);
}

// A part is bounded by its file, and its experiment by what its parts have taken.
TEST_F(PartsTest, OneWhosePlacesAreNotTheBlocksIsRefused) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  const std::string whole = part(lab, id, label(0, 1, 0)), last = " WHERE id = (SELECT max(id) FROM trials)";
  std::vector<std::pair<std::string, std::string>> changes;  // the change, what is said of it
  for (const std::string column : {"position", "subject", "cell", "build", "block", "run", "pass", "link", "seed", "layout"})
    for (const std::string& value : {column + " + 1000", std::string("NULL"), "CAST(" + column + " AS TEXT) || 'x'"})
      changes.emplace_back("UPDATE trials SET " + column + " = " + value + last, "it has 1 places that aren't the block's");
  changes.emplace_back("DELETE FROM outcomes WHERE trial = (SELECT max(id) FROM trials); DELETE FROM trials" + last,
                       "it has 1 places of the block that it lacks");
  changes.emplace_back("DELETE FROM trials", "it has " + std::to_string(kPlaces) + " places of the block that it lacks");
  int files = 0;
  for (const auto& [change, why] : changes) {
    const std::string name = "other" + std::to_string(files++);
    const PartVerdict verdict = take(lab, id, label(0, 1, 0), name, changed(whole, name, change));
    EXPECT_EQ(verdict.fate, PartFate::kRefused) << change;
    EXPECT_EQ(verdict.why, why) << change;
  }
  EXPECT_EQ(recorded_in(lab, id), 0);
  expect_sound(lab);
  EXPECT_EQ(take(lab, id, label(0, 1, 0), "whole", whole).fate, PartFate::kRecorded);
}

TEST_F(PartsTest, EachTextOfAPartIsCounted) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  const std::string path = changed(
      part(lab, id, label(0, 1, 0)), "large",
      "UPDATE trials SET failure = 'a' || char(0) || hex(zeroblob(10000)), boot_id = hex(zeroblob(10000)); "
      "UPDATE responses SET reason = hex(zeroblob(10000)) WHERE value IS NULL; UPDATE outcomes SET stdout_sha256 = "
      "hex(zeroblob(10000))");
  const int64_t before = lab.usage(id)->stored_bytes;
  const PartVerdict verdict = take(lab, id, label(0, 1, 0), "large", path);
  ASSERT_EQ(verdict.fate, PartFate::kRecorded) << verdict.why;
  EXPECT_GE(lab.usage(id)->stored_bytes - before, kPlaces * 4 * 20'000);
}

// As the fixture has it each trial of a worker's takes 1,500 ns.
TEST_F(PartsTest, AClockThatWasSetAddsNoMoreThanTheTimeThatPassed) {
  Store lab = open();
  const Id id = ready(lab, 4);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 1'000), 1);
  const auto machine_ns = [&] { return lab.usage(id)->machine_ns; };
  EXPECT_EQ(take(lab, id, label(0, 1, 0), "plain", part(lab, id, label(0, 1, 0)), 1'001'000).fate, PartFate::kRecorded);
  EXPECT_EQ(machine_ns(), 6'000);
  const std::string last = " WHERE id = (SELECT max(id) FROM trials)";
  const std::string forward = changed(part(lab, id, label(0, 1, 1)), "forward",
                                      "UPDATE trials SET finished_at_ns = finished_at_ns + 100000000000000000" + last);
  EXPECT_EQ(take(lab, id, label(0, 1, 1), "forward", forward, 1'001'000).fate, PartFate::kRecorded);
  EXPECT_EQ(machine_ns(), 1'006'000);
  const std::string backward = changed(part(lab, id, label(0, 1, 2)), "backward", "UPDATE trials SET finished_at_ns = -1" + last);
  EXPECT_EQ(take(lab, id, label(0, 1, 2), "backward", backward, 1'001'000).fate, PartFate::kRecorded);
  EXPECT_EQ(machine_ns(), 1'010'500);
  // Ours was set back.
  EXPECT_EQ(take(lab, id, label(0, 1, 3), "ours", part(lab, id, label(0, 1, 3)), 10).fate, PartFate::kRecorded);
  EXPECT_EQ(machine_ns(), 1'010'500);
  expect_sound(lab);
}

// Times whose sum is no number of the store's any more, and a usage that is nearly so.
TEST_F(PartsTest, NoTimesAreTooLong) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 1'000), 1);
  const std::string long_ones =
      changed(part(lab, id, label(0, 1, 0)), "long", "UPDATE trials SET finished_at_ns = 4611686018427387904, claimed_at_ns = 1");
  EXPECT_EQ(take(lab, id, label(0, 1, 0), "long", long_ones, 1'001'000).fate, PartFate::kRecorded);
  EXPECT_EQ(lab.usage(id)->machine_ns, 1'000'000);
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "UPDATE usage SET machine_ns = 9223372036854775800, stored_bytes = 9223372036854775800", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
  const PartVerdict verdict = take(lab, id, label(0, 1, 1), "more", part(lab, id, label(0, 1, 1)), 1'001'000);
  EXPECT_EQ(verdict.fate, PartFate::kRecorded) << verdict.why;
  EXPECT_EQ(lab.usage(id)->machine_ns, INT64_MAX);
  EXPECT_EQ(lab.usage(id)->stored_bytes, INT64_MAX);
  expect_sound(lab);
}

// A statement that would never end, and a value that its file does not hold.
TEST_F(PartsTest, WhatIsSomebodyElsesIsReadWithinLimits) {
  Database database = *Database::open(Database::kTemporary, Database::Mode::kCreate, nullptr);
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  {
    WorkLimit limit(std::chrono::milliseconds(20), 1000);
    const Bounded bounded(database, limit);
    EXPECT_FALSE(database.integer("SELECT length(hex(zeroblob(501)))").ok());
    EXPECT_FALSE(limit.was_met());
    EXPECT_FALSE(database.integer(endless).ok());
    EXPECT_TRUE(limit.was_met());
  }
  EXPECT_EQ(*database.integer("SELECT length(hex(zeroblob(501)))"), 1002);
  EXPECT_EQ(
      *database.integer("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT count(*) FROM n"),
      100000);
}

// Trials of another experiment are counted one by one, before a part and after it.
TEST_F(PartsTest, WhatIsCountedOneByOneIsStillCountedAfterAPart) {
  Store lab = open();
  const Id id = ready(lab, 2), here = ready(lab, 1);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  EXPECT_EQ(take(lab, id, label(0, 1, 0), "w", part(lab, id, label(0, 1, 0), 0.5, true)).fate, PartFate::kRecorded);
  ASSERT_TRUE(lab.finish(recorded(begin_next(lab, here).id), 3).ok());
  EXPECT_EQ(lab.progress(here)->count(TrialState::kRecorded), 1);
  expect_sound(lab);
}

TEST_F(PartsTest, AQuarantinedCellComesAlong) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 0, "here", 5), 1);
  EXPECT_TRUE(lab.bundle(id, directory_ + "/b").ok());
  Store worker = *Store::open(directory_ + "/w.db", Store::Access::kWrite);
  ASSERT_TRUE(worker.import_experiment(directory_ + "/b", 1).ok());
  while (worker.next_trial(1)->has_value()) {
    const TrialRow trial = begin_next(worker, 1);
    const bool bad = trial.subject == 0 && trial.cell == 0;
    ASSERT_TRUE(worker.finish(bad ? not_recorded(trial.id) : recorded(trial.id), 2).ok());
  }
  for (const uint32_t block : {1u, 0u}) {
    const PartLabel of = label(0, 1, block);
    const std::string path = directory_ + "/p" + std::to_string(block);
    ASSERT_TRUE(worker.write_part(1, of, kPlaces * block, kPlaces, path).ok());
    EXPECT_EQ(take(lab, id, of, path, path).fate, PartFate::kRecorded);
  }
  EXPECT_EQ(lab.progress(id)->by_state, worker.progress(1)->by_state);
  expect_sound(lab);
}

TEST_F(PartsTest, SlotsAreBundledAndDeletedWithTheirExperiment) {
  Store lab = open();
  const Id id = ready(lab, 2);
  ASSERT_EQ(*lab.grant_slot(id, 1, "here", 5), 1);
  SlotEpochRow row{1, 1, "here", "m1", SlotState::kRunning, "", 5, 0, {{"cpu.model", "X"}}};
  ASSERT_TRUE(lab.update_slot(id, row).ok());
  EXPECT_EQ(lab.update_slot(id, {2, 1, "", "", SlotState::kDone, "", 0, 0, {}}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(lab.bundle(id, directory_ + "/b").ok());
  Store copy = *Store::open(directory_ + "/b", Store::Access::kRead);
  EXPECT_EQ(copy.slot_epochs(1)->at(0).machine, "m1");
  EXPECT_EQ(copy.slot_epochs(1)->at(0).facts.at("cpu.model"), "X");
  EXPECT_TRUE(lab.delete_experiment(id).ok());
  EXPECT_TRUE(lab.slot_epochs(id)->empty());
}

}  // namespace
}  // namespace stab::store
