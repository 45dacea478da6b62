// What somebody else has put beside a database under the names of SQLite's own files, or instead of one.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "store_fixture.h"

namespace stab::store {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string number(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

class StrangersFiles : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    bundle_ = directory_ + "/theirs.stab";
    victim_ = directory_ + "/victim";
    std::ofstream(victim_) << "mine\n";
    Store lab = open();
    ASSERT_TRUE(lab.bundle(ready(lab), bundle_).ok());
  }
  // A journal (https://www.sqlite.org/fileformat2.html, 3) whose transaction is said to be part of the one that `other` is of:
  // who rolls it back removes that file.
  void put_journal(const std::string& path, const std::string& other) {
    const std::string database = text_of(path);
    const auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(database[i])); };
    const uint32_t page = at(16) << 8 | at(17);
    const char magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    std::string journal =
        magic + number(0) + number(7) + number(static_cast<uint32_t>(database.size() / page)) + number(512) + number(page);
    journal.resize(512);
    uint32_t sum = 0;
    for (const char c : other) sum += static_cast<uint32_t>(static_cast<signed char>(c));
    journal += number(0x40000000 / page + 1) + other + number(static_cast<uint32_t>(other.size())) + number(sum) + magic;
    std::ofstream(path + "-journal", std::ios::binary) << journal;
  }
  std::string bundle_, victim_;
};

TEST_F(StrangersFiles, NothingIsRemovedForAJournalBesideAnImport) {
  put_journal(bundle_, victim_);
  Store lab = open();
  const Result<Id> taken = lab.import_experiment(bundle_, 1, Store::Importer{1000, 1000});
  EXPECT_FALSE(taken.ok());
  EXPECT_EQ(text_of(victim_), "mine\n");
  const Result<Store> read = Store::open(bundle_, Store::Access::kRead);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("ask its owner for a file that 'stabctl bundle EXPERIMENT FILE' makes"), std::string::npos)
      << read.error().message;
  EXPECT_EQ(text_of(victim_), "mine\n");
  const Result<Store> write = Store::open(bundle_, Store::Access::kWrite);
  ASSERT_FALSE(write.ok());
  EXPECT_NE(write.error().message.find("named by a journal next to the database"), std::string::npos) << write.error().message;
  EXPECT_EQ(text_of(victim_), "mine\n");
}

// A journal of the database's own is rolled back as ever.
TEST_F(StrangersFiles, OnesOwnJournalIsRolledBack) {
  put_journal(bundle_, directory_ + "/nothing");
  EXPECT_TRUE(Store::open(bundle_, Store::Access::kWrite).ok());
  EXPECT_FALSE(std::filesystem::exists(bundle_ + "-journal"));
}

TEST_F(StrangersFiles, NoLinkIsFollowedBesideADatabase) {
  for (const char* end : {"-wal", "-journal", "-shm"}) {
    for (const bool dangles : {true, false}) {
      const std::string path = directory_ + "/links.db", target = dangles ? directory_ + "/made" : victim_;
      std::filesystem::copy_file(path_, path, std::filesystem::copy_options::overwrite_existing);
      for (const char* other : {"-wal", "-journal", "-shm"}) ::unlink((path + other).c_str());
      ASSERT_EQ(::symlink(target.c_str(), (path + end).c_str()), 0);
      for (const Store::Access access : {Store::Access::kRead, Store::Access::kWrite}) {
        const Result<Store> store = Store::open(path, access);
        EXPECT_TRUE(store.ok() || store.error().message.find("'" + path + end + "' is a link") != std::string::npos)
            << end << ": " << store.error().message;
        EXPECT_EQ(text_of(victim_), "mine\n") << end;
        EXPECT_FALSE(std::filesystem::exists(directory_ + "/made")) << end;
      }
      ::unlink((path + end).c_str());
    }
  }
}

TEST_F(StrangersFiles, WhatHasAnotherNameIsNotTaken) {
  const std::string wal = bundle_ + "-wal";
  ASSERT_EQ(::link(victim_.c_str(), wal.c_str()), 0);
  const Result<Store> store = Store::open(bundle_, Store::Access::kWrite);
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message.find("'" + wal + "' has another name"), std::string::npos) << store.error().message;
  EXPECT_EQ(text_of(victim_), "mine\n");
}

// To root SQLite gives what it opens beside a database to the database's owner.
TEST_F(StrangersFiles, NothingThatWasThereIsGivenAway) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const std::string wal = path_ + "-wal";
  { std::ofstream(wal) << "root's\n"; }
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  { const Result<Store> store = Store::open(path_, Store::Access::kRead); }
  struct stat info {};
  EXPECT_TRUE(::stat(wal.c_str(), &info) != 0 || info.st_uid == 0);
}

TEST_F(StrangersFiles, TheWritersLockIsNoLink) {
  const std::string made = directory_ + "/made", path = directory_ + "/new.db";
  ASSERT_EQ(::symlink(made.c_str(), (path + ".writer").c_str()), 0);
  const Result<Store> store = Store::open(path, Store::Access::kWrite);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kDenied);
  EXPECT_NE(store.error().message.find("new.db.writer' is a link"), std::string::npos) << store.error().message;
  EXPECT_FALSE(std::filesystem::exists(made));
}

TEST_F(StrangersFiles, APipeIsNoDatabase) {
  const std::string pipe = directory_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/null"), directory_})
    for (const Store::Access access : {Store::Access::kRead, Store::Access::kWrite})
      EXPECT_EQ(Store::open(path, access).error().code, ErrorCode::kBadInput) << path;
  // Beside one, nobody waits for its other end.
  ASSERT_EQ(::rename(pipe.c_str(), (bundle_ + "-journal").c_str()), 0);
  EXPECT_FALSE(Store::open(bundle_, Store::Access::kRead).ok());
}

// A view would run what its maker wrote, for ever if he likes.
TEST_F(StrangersFiles, AViewIsNoTable) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(bundle_.c_str(), &handle), SQLITE_OK);
  const char change[] =
      "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; ALTER TABLE experiments RENAME TO hidden; CREATE VIEW "
      "experiments AS "
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n";
  ASSERT_EQ(sqlite3_exec(handle, change, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
  sqlite3_close(handle);
  const Result<Store> store = Store::open(bundle_, Store::Access::kRead);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(store.error().message.find("'experiments', which is not a table"), std::string::npos) << store.error().message;
}

TEST_F(StrangersFiles, APathThatLooksLikeAUriIsAPath) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory_);
  { EXPECT_TRUE(Store::open("file:y.db", Store::Access::kWrite).ok()); }
  EXPECT_TRUE(std::filesystem::exists("file:y.db"));
  EXPECT_TRUE(Store::open("file:y.db", Store::Access::kRead).ok());
  std::filesystem::current_path(before);
}

// No CHECK holds in a file that another program has changed: a word that is none of ours must not be read as one that is.
TEST_F(StrangersFiles, UnknownWordsMakeARowUnreadable) {
  struct Case {
    const char* sql;
    std::function<Result<bool>(Store&)> read;
  };
  const auto whether = [](const auto& result) -> Result<bool> {
    if (!result.ok()) return result.error();
    return true;
  };
  const Case cases[] = {
      {"UPDATE trials SET state = 'wild'", [&](Store& store) { return whether(store.trial(1)); }},
      {"UPDATE trials SET kind = 'wild' WHERE id = 1", [&](Store& store) { return whether(store.trial(1)); }},
      {"UPDATE trials SET state = 'wild' WHERE id = 1", [&](Store& store) { return whether(store.outcome(1)); }},
      {"UPDATE trial_counts SET state = 'wild' WHERE state = 'recorded'",
       [&](Store& store) { return whether(store.progress(1)); }},
      {"UPDATE trial_counts SET state = 'wild' WHERE state = 'recorded'",
       [&](Store& store) { return whether(store.listed({}, 0)); }},
      {"UPDATE experiments SET state = 'wild'", [&](Store& store) { return whether(store.experiment(1)); }},
      {"UPDATE experiments SET state = 'wild'", [&](Store& store) { return whether(store.summary(1)); }},
      {"UPDATE builds SET state = 'wild'", [&](Store& store) { return whether(store.builds(1)); }},
      {"INSERT INTO wishes VALUES(1, 'wild', 0)", [&](Store& store) { return whether(store.wishes()); }},
      {"INSERT INTO slot_epochs VALUES(1, 0, 1, '', '', 'wild', '', 0, 0)",
       [&](Store& store) { return whether(store.slot_epochs(1)); }},
      {"INSERT INTO parts VALUES(1, '', 0, 1, 0, 0, 'wild', '', 0, 0)", [&](Store& store) { return whether(store.parts(1)); }},
  };
  {
    Store lab = open();
    ASSERT_TRUE(lab.finish(recorded(begin_next(lab, 1).id), 1).ok());
  }
  for (const Case& one : cases) {
    const std::string changed = directory_ + "/changed-" + std::to_string(&one - cases);
    std::filesystem::copy_file(path_, changed);
    {
      Result<Store> before = Store::open(changed, Store::Access::kRead);
      ASSERT_TRUE(before.ok());
      EXPECT_TRUE(one.read(*before).ok()) << one.sql;
    }
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(changed.c_str(), &handle), SQLITE_OK);
    const std::string sql = std::string("PRAGMA ignore_check_constraints = ON; ") + one.sql;
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
    Result<Store> after = Store::open(changed, Store::Access::kRead);
    ASSERT_TRUE(after.ok());
    const Result<bool> read = one.read(*after);
    ASSERT_FALSE(read.ok()) << one.sql;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << one.sql;
    EXPECT_NE(read.error().message.find("'wild'"), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace stab::store
