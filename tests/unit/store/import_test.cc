// Bundles: an experiment travels whole, next to others; a file that a stranger made is taken for what it is, and nothing of
// it runs or is run as a query by itself.
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "store_fixture.h"

namespace stab::store {
namespace {

class ImportTest : public StoreTest {
 protected:
  // A finished experiment with a failure, an exclusion, a quarantine, facts and log, besides others.
  Id rich(Store& store) {
    ready(store, 1, "before");
    const Id id = ready(store, 3, "rich");
    EXPECT_TRUE(store.put_host_facts(id, {{"kernel", "6.18"}}, 3).ok());
    EXPECT_TRUE(store.log({5, id, "started", "now"}).ok());
    while (store.next_trial(id)->has_value()) {
      const TrialRow trial = begin_next(store, id);
      Outcome outcome = recorded(trial.id, 1.0 + trial.order);
      if (trial.order == 4) outcome.excluded_by = {"migrations > 0"};
      if (trial.subject == 1 && trial.cell == 1) outcome = not_recorded(trial.id);
      EXPECT_TRUE(store.finish(outcome, 2).ok());
    }
    finish_experiment(store, id, 9);
    return id;
  }
  // As its maker could, without any of our checks.
  static void by_hand(const std::string& path, const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }
};

TEST_F(ImportTest, ABundleCarriesEverything) {
  Store lab = open();
  const Id id = rich(lab);
  Result<Store> bundle = Store::open(directory_ + "/bundle.db", Store::Access::kWrite);
  ASSERT_TRUE(bundle.ok());
  const Result<Id> copy = bundle->import_experiment(path_, id);
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(*copy, 1);
  EXPECT_EQ(bundle->experiment(*copy)->plan_text, lab.experiment(id)->plan_text);
  EXPECT_EQ(bundle->experiment(*copy)->state, ExperimentState::kDone);
  EXPECT_EQ(bundle->experiment(*copy)->seed, lab.experiment(id)->seed);
  EXPECT_EQ(bundle->host_facts(*copy)->at("kernel"), "6.18");
  ASSERT_EQ(bundle->environments(*copy)->size(), 1u);
  EXPECT_EQ(bundle->environments(*copy)->front().facts.at("kernel"), "6.18");
  EXPECT_EQ(bundle->environments(*copy)->front().since_ns, 3);
  EXPECT_EQ(bundle->events(*copy)->size(), 1u);
  EXPECT_EQ(bundle->factors(*copy)->at(0).levels, lab.factors(id)->at(0).levels);
  EXPECT_EQ(bundle->builds(*copy)->size(), 1u);
  EXPECT_EQ(bundle->progress(*copy)->by_state, lab.progress(id)->by_state);
  const auto mine = *lab.samples(id, "wall_time"), theirs = *bundle->samples(*copy, "wall_time");
  ASSERT_EQ(mine.size(), theirs.size());
  ASSERT_FALSE(mine.empty());
  for (size_t i = 0; i < mine.size(); ++i) {
    EXPECT_EQ(mine[i].value, theirs[i].value);
    EXPECT_EQ(mine[i].seed, theirs[i].seed);
    EXPECT_EQ(mine[i].excluded, theirs[i].excluded);
  }
  EXPECT_EQ(bundle->outcome(theirs[0].trial)->ledger, lab.outcome(mine[0].trial)->ledger);
  EXPECT_EQ(*bundle->missing_reasons(*copy, "cycles"), *lab.missing_reasons(id, "cycles"));
  EXPECT_EQ(*lab.epochs(mine[0].trial), recorded(1).epochs);
  EXPECT_EQ(*bundle->epochs(theirs[0].trial), *lab.epochs(mine[0].trial));
  EXPECT_EQ(*lab.epochs(1'000'000), "") << "none were kept";
  expect_sound(*bundle);
}

TEST_F(ImportTest, ImportedNextToOthersAndTwice) {
  Id id = 0;
  {
    Store lab = open();
    id = rich(lab);
  }
  Result<Store> other = Store::open(directory_ + "/other.db", Store::Access::kWrite);
  ASSERT_TRUE(other.ok());
  const Id own = ready(*other, 2, "own");
  const Id first = *other->import_experiment(path_, id), second = *other->import_experiment(path_, id);
  EXPECT_NE(first, second);
  EXPECT_EQ(other->progress(own)->planned_total, 8);
  EXPECT_EQ(other->progress(first)->planned_total, 12);
  EXPECT_EQ(other->samples(second, "wall_time")->size(), other->samples(first, "wall_time")->size());
  // Life goes on behind the imported ones.
  const Id next = ready(*other, 1, "next");
  EXPECT_GT(next, second);
  ASSERT_TRUE(other->finish(recorded(begin_next(*other, next).id), 3).ok());
  expect_sound(*other);
}

TEST_F(ImportTest, ABundleIsOneFileThatAnybodyCanRead) {
  Store lab = open();
  const Id id = rich(lab);
  const std::string path = directory_ + "/out.stab";
  ASSERT_TRUE(lab.bundle(id, path).ok());
  EXPECT_EQ(lab.bundle(id, path).error().code, ErrorCode::kBadInput) << "never over another file";
  EXPECT_EQ(lab.bundle(99, directory_ + "/no.stab").error().code, ErrorCode::kNotFound);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    files += entry.path().filename().string().find(".stab") != std::string::npos;
  EXPECT_EQ(files, 1) << "nothing lies beside it";
  const Result<Store> reader = Store::open(path, Store::Access::kRead);
  ASSERT_TRUE(reader.ok());
  Store other = *Store::open(directory_ + "/other.db", Store::Access::kWrite);
  const Id taken = *other.import_experiment(path, 1);
  EXPECT_EQ(other.progress(taken)->by_state, lab.progress(id)->by_state);
  expect_sound(other);
}

TEST_F(ImportTest, AStrangersExperimentIsTheImportersAndRunsOnlyWhenAsked) {
  Store lab = open();
  NewExperiment row = new_experiment("hostile");
  row.submitter_uid = 0;
  row.priority = 1000;
  const Id waits = *lab.add_experiment(row), done = rich(lab);
  Store other = *Store::open(directory_ + "/other.db", Store::Access::kWrite);
  const Store::Importer me{1000, 1001};
  const ExperimentRow taken = *other.experiment(*other.import_experiment(path_, waits, me));
  EXPECT_EQ(taken.submitter_uid, 1000);
  EXPECT_EQ(taken.submitter_gid, 1001);
  EXPECT_EQ(taken.priority, 0);
  EXPECT_EQ(taken.state, ExperimentState::kPaused);
  EXPECT_EQ(other.experiment(*other.import_experiment(path_, done, me))->state, ExperimentState::kDone);
}

// Bytes below zero would make room for others of the importer's, time below zero would never be over.
TEST_F(ImportTest, WhatAStrangersExperimentTakesIsCountedHere) {
  for (const char* change : {"UPDATE usage SET trials = -1000, stored_bytes = -1000000000000, machine_ns = -1000000000000000",
                             "UPDATE usage SET machine_ns = 9223372036854775807, uid = 7", "DELETE FROM usage"}) {
    const std::string path = directory_ + "/strange.db";
    Id id = 0;
    {
      Store made = *Store::open(path, Store::Access::kWrite);
      id = ready(made);
    }
    by_hand(path, change);
    Store other = open();
    const Id taken = *other.import_experiment(path, id, Store::Importer{1000, 1001});
    const Result<Usage> usage = other.usage(taken);
    ASSERT_TRUE(usage.ok()) << change << ": " << usage.error().message;
    EXPECT_EQ(usage->trials, 8) << change;
    EXPECT_GT(usage->stored_bytes, 0) << change;
    EXPECT_EQ(usage->machine_ns, 0) << change;
    EXPECT_EQ(other.usage_of(1000)->experiments, 1) << change;
    EXPECT_EQ(other.usage_of(7)->experiments, 0) << change;
    for (const char* end : {"", "-wal", "-shm"}) {
      std::filesystem::remove(path + end);
      std::filesystem::remove(path_ + end);
    }
  }
}

TEST_F(ImportTest, AFileWithViewsForTablesIsRefused) {
  {
    Store lab = open();
    rich(lab);
  }
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "ALTER TABLE events RENAME TO hidden; CREATE VIEW events AS SELECT 1 AS id, 1 AS at_ns, "
                                 "1 AS experiment, 'x' AS kind, 'y' AS text", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  Store other = *Store::open(directory_ + "/other.db", Store::Access::kWrite);
  EXPECT_EQ(other.import_experiment(path_, 1).error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(other.experiments()->empty());
}

TEST_F(ImportTest, BuildsThatAreNoIndexAreRefused) {
  for (const char* change :
       {"UPDATE builds SET build = 1000000", "UPDATE trials SET build = 7", "UPDATE trials SET build = NULL"}) {
    const std::string path = directory_ + "/strange.db";
    Store made = *Store::open(path, Store::Access::kWrite);
    ready(made);
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, change, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
    Store other = open();
    EXPECT_EQ(other.import_experiment(path, 1).error().code, ErrorCode::kCorrupt) << change;
    EXPECT_TRUE(other.experiments()->empty());
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  }
}

// Behind the largest id there would be none for the next trial, whoever's it is.
TEST_F(ImportTest, NumbersThatNoStoreGivesOutAreRefused) {
  const std::string huge = "9223372036854775807", last = " WHERE id = (SELECT max(id) FROM trials)";
  for (const std::string& change :
       {"UPDATE trials SET id = " + huge + last, "UPDATE trials SET id = -5" + last, "UPDATE builds SET id = " + huge,
        "UPDATE trials SET position = " + huge + last, "UPDATE stretches SET first_block = -" + huge}) {
    const std::string path = directory_ + "/strange.db";
    {
      Store made = *Store::open(path, Store::Access::kWrite);
      ready(made);
    }
    by_hand(path, change);
    Store other = open();
    const Result<Id> taken = other.import_experiment(path, 1, Store::Importer{1000, 1001});
    ASSERT_FALSE(taken.ok()) << change;
    EXPECT_EQ(taken.error().code, ErrorCode::kCorrupt) << change;
    EXPECT_NE(taken.error().message.find("which no store of Stab's gives out"), std::string::npos) << taken.error().message;
    EXPECT_TRUE(other.experiments()->empty()) << change;
    const Id own = ready(other);
    EXPECT_LT(other.next_trial(own)->value().id, 100) << change;
    expect_sound(other);
    for (const char* end : {"", "-wal", "-shm"}) {
      std::filesystem::remove(path + end);
      std::filesystem::remove(path_ + end);
    }
  }
}

TEST_F(ImportTest, AStrangersTrialsTakeNoMoreIdsThanTheyAre) {
  Id id = 0;
  {
    Store lab = open();
    id = rich(lab);
  }
  std::string shift = "UPDATE trials SET id = id + 1000000000000 WHERE id % 2; ";
  for (const char* table : {"outcomes", "responses", "epochs", "ledger", "exclusions", "quarantines"})
    shift += std::string("UPDATE ") + table + " SET trial = trial + 1000000000000 WHERE trial % 2; ";
  by_hand(path_, shift);
  Store lab = open(), other = *Store::open(directory_ + "/other.db", Store::Access::kWrite);
  const Id before = ready(other, 1, "before"), taken = *other.import_experiment(path_, id, Store::Importer{1000, 1001});
  EXPECT_EQ(other.progress(taken)->by_state, lab.progress(id)->by_state);
  const auto theirs = *lab.samples(id, "wall_time"), ours = *other.samples(taken, "wall_time");
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].value, theirs[i].value);
    EXPECT_EQ(ours[i].excluded, theirs[i].excluded);
    EXPECT_EQ(other.outcome(ours[i].trial)->ledger, lab.outcome(theirs[i].trial)->ledger);
  }
  EXPECT_LT(other.next_trial(ready(other, 1, "after"))->value().id, 100);
  EXPECT_TRUE(other.finish(recorded(begin_next(other, before).id), 3).ok());
  expect_sound(other);
}

TEST_F(ImportTest, WhatIsNoStoreOrNotThereIsRefusedAndChangesNothing) {
  Store store = open();
  const Id own = ready(store);
  EXPECT_EQ(store.import_experiment(directory_ + "/none.db", 1).error().code, ErrorCode::kNotFound);
  const std::string alien = directory_ + "/alien.db";
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(alien.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "CREATE TABLE experiments(id)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_EQ(store.import_experiment(alien, 1).error().code, ErrorCode::kCorrupt);
  const std::string no_bytes = directory_ + "/no_bytes.db";
  std::ofstream{no_bytes};
  EXPECT_EQ(store.import_experiment(no_bytes, 1).error().code, ErrorCode::kCorrupt);
  {
    Result<Store> empty = Store::open(directory_ + "/empty.db", Store::Access::kWrite);
    ASSERT_TRUE(empty.ok());
  }
  EXPECT_EQ(store.import_experiment(directory_ + "/empty.db", 7).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.experiments()->size(), 1u);
  ASSERT_TRUE(store.finish(recorded(begin_next(store, own).id), 3).ok());  // nothing is left attached or locked
  expect_sound(store);
}

}  // namespace
}  // namespace stab::store
