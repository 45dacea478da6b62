// The database as a file: who may write to it, copies of it, its size, and what `db check` finds in one that is broken.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <optional>

#include "store/writer.h"
#include "store_fixture.h"

namespace stab::store {
namespace {

using CareTest = StoreTest;

// Whether another process sees that this one has the database open: the lock that SQLite keeps on it as long as it does
// (https://www.sqlite.org/fileformat2.html, os_unix.c: SHARED_FIRST).
bool is_seen_to_be_open(const std::string& path) {
  constexpr off_t kSharedFirst = 0x40000000 + 2, kSharedSize = 510;
  const pid_t child = ::fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = kSharedFirst;
    lock.l_len = kSharedSize;
    const int fd = ::open(path.c_str(), O_RDWR);
    ::_exit(fd >= 0 && ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

TEST_F(CareTest, OneWriterAtATime) {
  Store first = open();
  const Result<Store> second = Store::open(path_, Store::Access::kWrite);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_TRUE(Store::open(path_, Store::Access::kRead).ok());
  { Store moved = std::move(first); }
  EXPECT_TRUE(Store::open(path_, Store::Access::kWrite).ok());
}

// Who reads "running" can tell whether anything runs.
TEST_F(CareTest, AReaderKnowsWhetherSomebodyWrites) {
  std::optional<Store> writer = open();
  EXPECT_TRUE(has_writer(path_));
  EXPECT_EQ(Store::open(path_, Store::Access::kWrite).error().code, ErrorCode::kBusy) << "looking took the writer's lock away";
  writer.reset();
  EXPECT_FALSE(has_writer(path_));
  EXPECT_TRUE(Store::open(path_, Store::Access::kWrite).ok()) << "looking kept the lock";
}

// Whoever closes the database last removes the -wal, with all that a writer puts there afterwards. That it isn't the last one it
// knows by locks, and a process loses all of its locks on a file when it closes any descriptor of it.
TEST_F(CareTest, ReadersOfTheSameProcessLeaveTheWritersLock) {
  Store store = open();
  ASSERT_TRUE(is_seen_to_be_open(path_));
  {
    Result<Store> reader = Store::open(path_, Store::Access::kRead);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EXPECT_TRUE(is_seen_to_be_open(path_)) << "after a reader was opened";
    ASSERT_TRUE(reader->experiments().ok());
  }
  EXPECT_TRUE(is_seen_to_be_open(path_)) << "after a reader was closed";
  ASSERT_TRUE(store.backup(directory_ + "/copy.db").ok());
  ASSERT_TRUE(store.check().ok());
  EXPECT_TRUE(is_seen_to_be_open(path_)) << "after a backup and a check";
}

TEST_F(CareTest, BackupIsACompleteStoreAndNeverOverwrites) {
  Store store = open();
  const Id id = ready(store);
  ASSERT_TRUE(store.finish(recorded(begin_next(store, id).id), 3).ok());
  const std::string copy_path = directory_ + "/copy.db";
  ASSERT_TRUE(store.backup(copy_path).ok());
  Result<Store> copy = Store::open(copy_path, Store::Access::kWrite);
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(copy->progress(id)->by_state[TrialState::kRecorded], 1);
  expect_sound(*copy);
  EXPECT_EQ(store.backup(copy_path).error().code, ErrorCode::kBadInput);
}

TEST_F(CareTest, VacuumGivesSpaceBack) {
  Store store = open();
  const Id id = ready(store, 2000);
  ASSERT_TRUE(store.checkpoint().ok());
  const auto before = std::filesystem::file_size(path_);
  ASSERT_TRUE(store.delete_experiment(id).ok());
  ASSERT_TRUE(store.vacuum().ok());
  EXPECT_LT(std::filesystem::file_size(path_), before / 2);
}

TEST_F(CareTest, CheckNamesWhatIsBroken) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow trial = begin_next(store, id);
  ASSERT_TRUE(store.finish(recorded(trial.id), 3).ok());
  expect_sound(store);
  // What only a bug or a hand could do.
  const std::pair<const char*, const char*> damages[] = {
      {"UPDATE trials SET attempt = 3 WHERE kind='main' AND position = 4", "without gaps: place 1/main/4"},
      {"UPDATE trials SET superseded = 1 WHERE kind='main' AND position = 5", "valid one: place 1/main/5"},
      {"DELETE FROM outcomes", "result and state disagree: trial 1"},
      {"INSERT INTO responses VALUES(8, 'x', 1, 1, 1, 1, '')", "planned but has responses: trial 8"},
      {"UPDATE trials SET subject = 77 WHERE id = 7", "trials row 7 refers to nothing in subjects"},
  };
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
  for (const auto& [damage, message] : damages) {
    EXPECT_EQ(sqlite3_exec(handle, damage, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    std::string all;
    const Result<std::vector<std::string>> problems = store.check();
    ASSERT_TRUE(problems.ok());
    for (const std::string& problem : *problems) all += problem + "\n";
    EXPECT_NE(all.find(message), std::string::npos) << damage << "\n" << all;
  }
  sqlite3_close(handle);
}

}  // namespace
}  // namespace stab::store
