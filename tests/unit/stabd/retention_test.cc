// First the choice, which is pure: who goes, oldest first, and who never does. Then the same on disk, with a database that
// says what is over and what still waits for its builds.
#include "stabd/retention.h"

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using std::chrono::hours;

constexpr int64_t kHour = 3'600'000'000'000;

std::vector<std::string> names(const std::vector<StoredThing>& things) {
  std::vector<std::string> out;
  for (const StoredThing& thing : things) out.push_back(thing.path);
  return out;
}

using Names = std::vector<std::string>;

// Four things of two users, 10 bytes each, used 1 to 4 hours ago; the oldest is needed.
std::vector<StoredThing> four() {
  return {{"d", 1, 10, 9 * kHour, false}, {"c", 2, 10, 8 * kHour, false}, {"b", 1, 10, 7 * kHour, false}, {"a", 2, 10, 6 * kHour, true}};
}

TEST(Retention, NothingGoesUnlessItIsLimited) { EXPECT_EQ(names(what_goes(four(), Config(), 10 * kHour)), Names()); }

TEST(Retention, TheOldGoUnlessTheyAreNeeded) {
  Config config;
  config.retention.builds = hours(2);
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names({"b"}));
}

TEST(Retention, TheOldestGoUntilTheRestFits) {
  Config config;
  config.retention.disk_bytes = 25;
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names({"b", "c"}));
  config.retention.disk_bytes = 40;
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names());
  config.retention.disk_bytes = 1;
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names({"b", "c", "d"}));
}

TEST(Retention, AUserAboveTheQuotaLosesOnlyOwnOnes) {
  Config config;
  config.users[1].disk_bytes = 15;
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names({"b"}));
}

TEST(Retention, ArchivedBinariesAreNobodysQuota) {
  std::vector<StoredThing> things = four();
  for (StoredThing& thing : things) thing.uid.reset();
  Config config;
  config.quota.disk_bytes = 1;
  EXPECT_EQ(names(what_goes(things, config, 10 * kHour)), Names());
}

TEST(Retention, WhatWasNeverFinishedGoes) {
  std::vector<StoredThing> things = four();
  things[0].used_at_ns = 0;
  EXPECT_EQ(names(what_goes(things, Config(), 10 * kHour)), Names({"d"}));
}

// A database with one experiment that is over and one that waits, a build of each, and what nobody has.
class RetentionOnDisk : public testing::Test {
 protected:
  RetentionOnDisk() {
    auto store = store::Store::open(database_, store::Store::Access::kWrite);
    EXPECT_TRUE(store.ok());
    store_.emplace(std::move(*store));
    over_ = add("over", kOver);
    waits_ = add("waits", kWaits);
    EXPECT_TRUE(store_->set_state(over_, store::ExperimentState::kDone, "", 5 * kHour).ok());
    for (const char* name : {kOver, kWaits, "ffffffffffffffff"}) {
      directory_.write("d.db.files/builds/" + std::string(name) + "/program", "12345");
      directory_.write("d.db.files/builds/" + std::string(name) + ".done", "");
    }
    directory_.write("d.db.files/archive/" + sha(kOver), "over's");
    directory_.write("d.db.files/archive/" + sha(kWaits), "waits's");
    directory_.write("d.db.files/archive/" + sha("f") + ".new", "a crash");
  }
  store::Id add(const std::string& name, const std::string& hash) {
    store::NewExperiment row;
    row.name = name;
    const auto id = store_->add_experiment(row);
    EXPECT_TRUE(id.ok());
    store::Store::Expansion expansion;
    expansion.subjects = {{0, "p", "p", "p"}};
    expansion.cells = {{0, "", "off", "off", "off", 0, 0, {}}};
    expansion.builds.resize(1);
    EXPECT_TRUE(store_->expand(*id, expansion).ok());
    store::BuildRow build = store_->builds(*id)->front();
    build.state = store::BuildState::kDone;
    build.input_hash = hash + std::string(48, '0');
    build.binary_sha256 = sha(hash);
    EXPECT_TRUE(store_->update_build(build).ok());
    return *id;
  }
  static std::string sha(const std::string& hash) { return hash + std::string(64 - hash.size(), '1'); }
  bool exists(const std::string& name) const { return std::filesystem::exists(directory_.path() + "/d.db.files/" + name); }
  RetentionResult apply(const Config& config) {
    // Long after now: the files are new.
    const int64_t now = std::chrono::system_clock::now().time_since_epoch().count() + 1000 * kHour;
    const auto kept = retain_experiments(config, *store_, now);
    EXPECT_TRUE(kept.ok());
    auto result = retain_files(config, *kept, database_, now);
    EXPECT_TRUE(result.ok());
    return result ? *result : RetentionResult();
  }

  static constexpr const char* kOver = "aaaaaaaaaaaaaaaa";
  static constexpr const char* kWaits = "bbbbbbbbbbbbbbbb";
  TemporaryDirectory directory_;
  std::string database_ = directory_.path() + "/d.db";
  std::optional<store::Store> store_;
  store::Id over_ = 0, waits_ = 0;
};

TEST_F(RetentionOnDisk, ByDefaultOnlyRubbishGoes) {
  const RetentionResult result = apply(Config());
  EXPECT_EQ(result.said.size(), 1u);
  EXPECT_FALSE(exists("archive/" + sha("f") + ".new"));
  EXPECT_TRUE(exists("builds/ffffffffffffffff/program"));
  EXPECT_EQ(store_->experiments()->size(), 2u);
  uint64_t bytes = 0;
  for (const auto& [uid, used] : result.bytes_by_user) bytes += used;
  EXPECT_GT(bytes, 0u);
}

TEST_F(RetentionOnDisk, OldBuildsGoButNotOfWhatWaits) {
  Config config;
  config.retention.builds = hours(1);
  apply(config);
  EXPECT_FALSE(exists(std::string("builds/") + kOver));
  EXPECT_FALSE(exists(std::string("builds/") + kOver + ".done"));
  EXPECT_FALSE(exists("archive/" + sha(kOver)));
  EXPECT_TRUE(exists(std::string("builds/") + kWaits + "/program"));
  EXPECT_TRUE(exists("archive/" + sha(kWaits)));
}

TEST_F(RetentionOnDisk, FinishedExperimentsGoOnlyIfSaid) {
  Config config;
  config.retention.experiments = hours(1);
  apply(config);
  ASSERT_EQ(store_->experiments()->size(), 1u);
  EXPECT_EQ(store_->experiments()->front().id, waits_);
  EXPECT_FALSE(exists("archive/" + sha(kOver))) << "nobody can repeat its trials any more";
}

}  // namespace
}  // namespace stab::engine
