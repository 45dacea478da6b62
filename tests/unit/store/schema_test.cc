// The file as people and other programs meet it, through sqlite3 itself.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "store/schema.h"
#include "store_fixture.h"

namespace stab::store {
namespace {

using ::testing::HasSubstr;

class SchemaTest : public StoreTest {
 protected:
  // Rows as "a|b\n".
  std::string sql(const std::string& statement) {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    std::string out;
    char* error = nullptr;
    sqlite3_exec(
        handle, statement.c_str(),
        [](void* text, int columns, char** values, char**) {
          auto& to = *static_cast<std::string*>(text);
          for (int c = 0; c < columns; ++c) to += (c ? "|" : "") + std::string(values[c] ? values[c] : "NULL");
          to += "\n";
          return 0;
        },
        &out, &error);
    if (error) out += std::string("error: ") + error;
    sqlite3_free(error);
    sqlite3_close(handle);
    return out;
  }
};

uint64_t fingerprint(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

TEST_F(SchemaTest, IsVersionedWalAndStrict) {
  { Store store = open(); }
  EXPECT_EQ(sql("PRAGMA user_version"), std::to_string(kSchemaVersion) + "\n");
  EXPECT_EQ(sql("PRAGMA journal_mode"), "wal\n");
  EXPECT_EQ(sql("PRAGMA application_id"), std::to_string(0x53544142) + "\n");
  EXPECT_EQ(sql("SELECT name FROM pragma_table_list WHERE schema='main' AND type='table' AND NOT strict "
                "AND name NOT LIKE 'sqlite_%'"),
            "");
}

TEST_F(SchemaTest, VersionOneIsFrozen) {
  // A released version is never edited: this is its fingerprint. A change goes into a new step.
  { Store store = open(); }
  const std::string text = sql("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name");
  EXPECT_EQ(fingerprint(text), 13824624847240875083u) << text;
}

// What the error says to do carries the last version from before the first release over.
TEST_F(SchemaTest, DatabasesFromBeforeTheFirstReleaseAreRefusedWithTheWayOver) {
  Id id = 0;
  {
    Store store = open();
    id = ready(store);
    ASSERT_TRUE(store.finish(recorded(begin_next(store, id).id), 3).ok());
  }
  sql("PRAGMA application_id = 1400136034; PRAGMA user_version = 6");
  for (const Store::Access access : {Store::Access::kWrite, Store::Access::kRead}) {
    const Error error = Store::open(path_, access).error();
    EXPECT_EQ(error.code, ErrorCode::kUnavailable);
    EXPECT_THAT(error.message, HasSubstr("schema version 6 of then; nothing carries it over"));
  }
  sql("PRAGMA user_version = 7");
  const std::string message = Store::open(path_, Store::Access::kWrite).error().message;
  EXPECT_EQ(Store::open(path_, Store::Access::kRead).error().message, message);
  const size_t begin = message.find("'PRAGMA"), end = message.find('\'', begin + 1);
  ASSERT_NE(end, std::string::npos) << message;
  {
    Result<Store> other = Store::open(directory_ + "/other.db", Store::Access::kWrite);
    ASSERT_TRUE(other.ok());
    const Result<Id> taken = other->import_experiment(path_, 1, Store::Importer{1000, 1000});
    ASSERT_FALSE(taken.ok());
    EXPECT_THAT(taken.error().message, HasSubstr(path_ + "': the database was made before"));
  }
  sql(message.substr(begin + 1, end - begin - 1));
  EXPECT_EQ(open(Store::Access::kRead).samples(id, "task-clock")->size(), 1u);
}

TEST_F(SchemaTest, ResultsAreReadableByAPerson) {
  {
    Store store = open();
    const Id id = ready(store);
    const TrialRow trial = begin_next(store, id);
    ASSERT_TRUE(store.finish(recorded(trial.id), 3).ok());
  }
  EXPECT_EQ(sql("SELECT experiment, subject, cell, code, block, state, attempt, seed, wall_s, counters, started_utc "
                "FROM results WHERE kind='main' AND position=0"),
            "exp|lua/fib|code=off|off|0|recorded|1|f000000000000000|0.5|{\"cycles\":null,\"task-clock\":1.5}|"
            "1970-01-01 00:00:00\n");
  EXPECT_EQ(sql("SELECT * FROM progress ORDER BY trials"), "exp|1|ready|planned|7\nexp|1|ready|recorded|1\n");
}

TEST_F(SchemaTest, TheFileItselfRefusesASecondRecord) {
  {
    Store store = open();
    const Id id = ready(store);
    ASSERT_TRUE(store.finish(not_recorded(begin_next(store, id).id), 3).ok());
    ASSERT_TRUE(store.finish(recorded(begin_next(store, id).id), 3).ok());
  }
  EXPECT_NE(sql("UPDATE trials SET state='recorded' WHERE kind='main' AND position=0 AND attempt=1").find("UNIQUE"),
            std::string::npos);
}

TEST_F(SchemaTest, OtherProgramsDatabasesAreLeftAlone) {
  sql("CREATE TABLE t(x); INSERT INTO t VALUES(1)");
  for (Store::Access access : {Store::Access::kWrite, Store::Access::kRead}) {
    const Result<Store> store = Store::open(path_, access);
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_EQ(sql("PRAGMA journal_mode"), "delete\n");
}

// To SQLite "file:lab.db" is an address and ":memory:" no file: what was written would not be found again.
TEST_F(SchemaTest, EveryPathIsAFile) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory_);
  for (const std::string path : {"file:lab.db", "file:lab.db?mode=memory", ":memory:"}) {
    EXPECT_EQ(Store::open(path, Store::Access::kRead).error().code, ErrorCode::kNotFound) << path;
    EXPECT_TRUE(Store::open(path, Store::Access::kWrite).ok()) << path;
    EXPECT_TRUE(std::filesystem::exists(directory_ + "/" + path));
    EXPECT_TRUE(Store::open(path, Store::Access::kRead).ok()) << path;
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  std::filesystem::current_path(before);
}

TEST_F(SchemaTest, NewerAndBrokenFilesAreRefused) {
  { Store store = open(); }
  sql("PRAGMA user_version = 999");
  EXPECT_EQ(Store::open(path_, Store::Access::kWrite).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(Store::open(path_, Store::Access::kRead).error().code, ErrorCode::kUnavailable);
  std::filesystem::remove(path_);
  FILE* file = fopen(path_.c_str(), "w");
  fputs(std::string(5000, 'x').c_str(), file);
  fclose(file);
  EXPECT_EQ(Store::open(path_, Store::Access::kWrite).error().code, ErrorCode::kCorrupt);
  std::filesystem::remove(path_);
  EXPECT_EQ(Store::open(path_, Store::Access::kRead).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(Store::open(directory_ + "/no/such/dir/lab.db", Store::Access::kWrite).ok());
}

}  // namespace
}  // namespace stab::store
