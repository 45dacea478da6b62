// Every released version's database opens, is migrated, keeps what it held, and goes on. version_N.sql is what
// `.dump` printed of a store that version N made; a new version adds a file.
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "store/schema.h"
#include "store_fixture.h"
#include "tests/places.h"

namespace stab::store {
namespace {

class MigrationTest : public StoreTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    std::ifstream file(STAB_SOURCE_DIR "/tests/unit/store/version_" + std::to_string(GetParam()) + ".sql");
    const std::string sql{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    ASSERT_FALSE(sql.empty());
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_free(error);
    sqlite3_close(handle);
  }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
};

TEST_P(MigrationTest, KeepsEverythingAndGoesOn) {
  Store store = open();
  expect_sound(store);
  const ExperimentRow experiment = store.experiments()->front();
  EXPECT_EQ(experiment.name, "first");
  EXPECT_EQ(store.summaries()->front().id, experiment.id);
  EXPECT_GT(store.usage(experiment.id)->stored_bytes, 0);
  EXPECT_EQ(store.usage(experiment.id)->trials, store.progress(experiment.id)->planned_total);
  EXPECT_EQ(experiment.seed, 0xffffffffffffffffu);
  EXPECT_EQ(experiment.schedule_fingerprint, 0xfedcba9876543210u);
  const Id id = experiment.id;
  EXPECT_EQ(store.samples(id, "task-clock")->size(), 2u);
  EXPECT_EQ(store.missing_reasons(id, "cycles")->at("no PMU"), 2);
  EXPECT_EQ(store.host_facts(id)->at("kernel"), "6.1");
  ASSERT_EQ(store.environments(id)->size(), 1u) << "what was known of the machine is its only environment";
  EXPECT_EQ(store.environments(id)->front().facts.at("kernel"), "6.1");
  EXPECT_EQ(store.events(id)->at(0).text, "made by version 1");
  EXPECT_EQ(store.outcome(1)->ledger.at("steal_ns"), 12);
  EXPECT_EQ(store.recover(9, 5)->lost.size(), 1u);
  while (store.next_trial(id)->has_value()) ASSERT_TRUE(store.finish(recorded(begin_next(store, id).id), 5).ok());
  EXPECT_GE(store.samples(id, "wall_time")->size(), 4u);
  expect_sound(store);
}

// A reader changes nothing: neither the file's bytes nor, while an older program writes, what that one sees.
TEST_P(MigrationTest, IsReadAsItIsWithoutBeingChanged) {
  for (const char* mode : {"PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = WAL"}) {
    sqlite3* writer = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &writer), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(writer, mode, nullptr, nullptr, nullptr), SQLITE_OK);
    const std::string before = bytes();
    {
      Store reader = open(Store::Access::kRead);
      const ExperimentRow experiment = reader.experiments()->front();
      EXPECT_EQ(experiment.name, "first");
      EXPECT_EQ(reader.samples(experiment.id, "task-clock")->size(), 2u);
      EXPECT_EQ(reader.host_facts(experiment.id)->at("kernel"), "6.1");
      EXPECT_FALSE(reader.log({1, experiment.id, "test", "a reader writes nothing, not even to be lost"}).ok());
      const std::string bundle = path_ + "." + std::string(mode).substr(std::string(mode).rfind(' ') + 1);
      const Status made = reader.bundle(experiment.id, bundle);
      ASSERT_TRUE(made.ok()) << made.error().text();
      EXPECT_EQ(Store::open(bundle, Store::Access::kRead)->samples(1, "task-clock")->size(), 2u);
      EXPECT_FALSE(std::filesystem::exists(bundle + ".part-" + std::to_string(::getpid()) + "-all"));
    }
    EXPECT_EQ(bytes(), before) << mode;
    sqlite3_close(writer);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, MigrationTest, ::testing::Range(1, kSchemaVersion + 1));

}  // namespace
}  // namespace stab::store
