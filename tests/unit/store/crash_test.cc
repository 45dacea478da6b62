// Full disks, I/O errors and death between any two writes. After each of them the file opens, is sound, and holds
// exactly what operations that returned success had stored.
#include <sys/wait.h>
#include <unistd.h>

#include "fault_vfs.h"
#include "store_fixture.h"

namespace stab::store {
namespace {

class CrashTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    install_fault_vfs();
    fault_control().arm(Fault::kNone, 0);
  }
  void TearDown() override {
    fault_control().arm(Fault::kNone, 0);
    StoreTest::TearDown();
  }

  // The work of an engine: all trials of the experiment, the second one failing once. Returns the number of
  // operations that succeeded before one failed. Stops at the first failure.
  struct Work {
    int recorded = 0;
    bool failed = false;
    ErrorCode code = ErrorCode::kInternal;
  };
  static Work work(Store& store, Id id) {
    Work done;
    const auto fail = [&](const Error& error) {
      done.failed = true;
      done.code = error.code;
      return done;
    };
    while (true) {
      const auto next = store.next_trial(id);
      if (!next) return fail(next.error());
      if (!*next) return done;
      if (const Status claimed = store.claim((*next)->id, {"boot", 1}); !claimed) return fail(claimed.error());
      const bool bad = (*next)->order == 1 && (*next)->attempt == 1;
      const auto finished = store.finish(bad ? not_recorded((*next)->id) : recorded((*next)->id), 5);
      if (!finished) return fail(finished.error());
      if (!bad) ++done.recorded;
    }
  }

  // Opens with healthy I/O, recovers, finishes the rest: every place recorded exactly once.
  void expect_completes(Id id, int at_least_recorded, const std::string& where) {
    fault_control().arm(Fault::kNone, 0);
    Store store = open();
    expect_sound(store);
    EXPECT_GE(store.progress(id)->by_state[TrialState::kRecorded], at_least_recorded) << where;
    ASSERT_TRUE(store.recover(1, 5).ok()) << where;
    const Work rest = work(store, id);
    EXPECT_FALSE(rest.failed) << where;
    const Progress progress = *store.progress(id);
    EXPECT_EQ(progress.by_state.at(TrialState::kRecorded), 8) << where;
    EXPECT_EQ(progress.planned_total, 8) << where;
    EXPECT_EQ(store.samples(id, "wall_time")->size(), 8u) << where;
    expect_sound(store);
  }

  Id fresh() {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
    Store store = open();
    return ready(store);
  }
};

TEST_F(CrashTest, EveryCommitIsSyncedBeforeItReturns) {
  const Id id = fresh();
  Result<Store> store = Store::open(path_, Store::Access::kWrite, kFaultVfs);
  ASSERT_TRUE(store.ok());
  const TrialRow trial = begin_next(*store, id);
  fault_control().arm(Fault::kNone, 0);
  ASSERT_TRUE(store->finish(recorded(trial.id), 3).ok());
  EXPECT_GE(fault_control().syncs, 1);
  fault_control().arm(Fault::kNone, 0);
  ASSERT_TRUE(store->progress(id).ok());
  ASSERT_TRUE(store->next_trial(id).ok());
  EXPECT_EQ(fault_control().count, 0);  // reading writes nothing
}

TEST_F(CrashTest, ASubmitIsOneSyncAndNoCheckpoint) {
  Result<Store> store = Store::open(path_, Store::Access::kWrite, kFaultVfs);
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE(store->add_experiment(new_experiment()).ok());
  fault_control().arm(Fault::kNone, 0);
  NewExperiment large = new_experiment();
  large.plan_text = std::string(8 << 20, 'x');  // more than the pages that trigger a checkpoint elsewhere
  ASSERT_TRUE(store->add_experiment(large).ok());
  ASSERT_TRUE(store->add_experiment(new_experiment()).ok());
  EXPECT_EQ(fault_control().syncs, 2);
}

TEST_F(CrashTest, AnErrorAtAnyWriteIsReportedAndUndone) {
  for (Fault fault : {Fault::kDiskFull, Fault::kIoError}) {
    bool reached_the_end = false;
    int points = 0;
    for (int at = 1; !reached_the_end; at += 1 + at / 8) {
      const std::string where = "operation " + std::to_string(at);
      const Id id = fresh();
      Work done;
      {
        fault_control().arm(Fault::kNone, 0);
        Result<Store> store = Store::open(path_, Store::Access::kWrite, kFaultVfs);
        ASSERT_TRUE(store.ok());
        fault_control().arm(fault, at);
        done = work(*store, id);
        reached_the_end = !done.failed;
        if (done.failed) {
          EXPECT_EQ(done.code, ErrorCode::kSystem) << where;
        }
      }
      expect_completes(id, done.recorded, where);
      ++points;
    }
    EXPECT_GE(points, 20);
  }
}

TEST_F(CrashTest, DeathAtAnyWriteLosesNothingThatWasReported) {
  bool reached_the_end = false;
  int points = 0;
  for (int at = 1; !reached_the_end; at += 1 + at / 8) {
    const std::string where = "operation " + std::to_string(at);
    const Id id = fresh();
    int pipe_fds[2];
    ASSERT_EQ(::pipe(pipe_fds), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Result<Store> store = Store::open(path_, Store::Access::kWrite, kFaultVfs);
      if (!store) ::_exit(1);
      fault_control().arm(Fault::kDie, at);
      while (true) {
        const auto next = store->next_trial(id);
        if (!next || !*next) ::_exit(next ? 0 : 1);
        if (!store->claim((*next)->id, {"boot", 1})) ::_exit(1);
        if (!store->finish(recorded((*next)->id), 5)) ::_exit(1);
        if (::write(pipe_fds[1], "r", 1) != 1) ::_exit(1);  // told the world
      }
    }
    ::close(pipe_fds[1]);
    int told = 0;
    char byte;
    while (::read(pipe_fds[0], &byte, 1) == 1) ++told;
    ::close(pipe_fds[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kDeathStatus) << WEXITSTATUS(status);
    reached_the_end = WEXITSTATUS(status) == 0;
    expect_completes(id, told, where);
    ++points;
  }
  EXPECT_GE(points, 20);
}

}  // namespace
}  // namespace stab::store
