// A run that has come to its end, while that is being stored: nobody hears a wish any more, and whoever wishes stores it. It is
// stored where somebody finds it.
#include "stabd/daemon/runs/machine_runs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "plan/parse.h"
#include "stabd/engine/machines/choose_engine.h"
#include "stabd/engine/separation/places.h"
#include "tests/golden/record.h"
#include "tests/unit/stabd/daemon/opened_engine.h"
#include "tests/unit/temporary_directory.h"

namespace stab::daemon {
namespace {

constexpr char kPlan[] =
    "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 2\n[[program]]\nname = \"p\"\nrun = [\"true\"]\n[machines]\ncount = 2\n";

class MachineRunsTest : public testing::Test {
 protected:
  MachineRunsTest() {
    engine_ = opened_engine(directory_.path(), clock_);
  }
  // Each of its blocks is recorded: its run is over as soon as it begins.
  store::Id recorded() {
    const plan::Parsed parsed = plan::parse_plan(kPlan, "x.toml");
    EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors);
    const auto id = record_experiment(
        engine_->store(), *parsed.plan,
        [](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) { outcome.wall_ns = 1'000'000'000; });
    EXPECT_TRUE(id.ok()) << id.error().text();
    return *id;
  }

  // One whose blocks are recorded, and whose end is not: as if the daemon had died in between.
  store::Id recorded_and_running() {
    const store::Id id = recorded();
    by_hand("UPDATE experiments SET state = 'running'; INSERT INTO parts VALUES(1, 'a', 0, 1, 0, 0, 'recorded', '', 1, 1), "
            "(1, 'b', 1, 1, 0, 1, 'recorded', '', 1, 1)");
    const auto row = engine_->store().experiment(id);
    const auto builds = engine_->store().builds(id);
    EXPECT_TRUE(row.ok() && builds.ok());
    auto spool = engine::Spool::open(engine::files_beside(database()) + "/machines/" +
                                     engine::spool_name(engine::identity_of(*row, *builds), row->replicates));
    EXPECT_TRUE(spool.ok() && spool->put("binary.", "none was built").ok() &&
                spool->put(engine::kSpoolBundle, "nobody reads it").ok());
    return id;
  }
  // What a run of it comes to.
  Result<engine::RunEnd> run(store::Id experiment) {
    std::promise<Result<engine::RunEnd>> over;
    std::future<Result<engine::RunEnd>> end = over.get_future();
    MachineRuns::Listener listener = quiet();
    listener.ended = [&](store::Id, int64_t, const Result<engine::RunEnd>& what, MachineRuns::Wished) { over.set_value(what); };
    listener.gone = [] {};
    MachineRuns runs(*engine_, listener);
    {
      const std::lock_guard<engine::Gate> gate(engine_->gate());
      const Status begun = runs.begin(experiment, 1000);
      if (!begun) return begun.error();
    }
    if (end.wait_for(std::chrono::seconds(60)) != std::future_status::ready)
      return Error{ErrorCode::kInternal, "it does not end", {}};
    return end.get();
  }
  static MachineRuns::Listener quiet() {
    MachineRuns::Listener listener;
    listener.said = [](store::Id, int64_t, bool, const std::string&) {};
    listener.may_go_on = [](store::Id, int64_t) { return true; };
    listener.why_no_room = [](int64_t, int64_t) { return std::string(); };
    return listener;
  }
  store::ExperimentState state(store::Id experiment) {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    const auto row = engine_->store().experiment(experiment);
    EXPECT_TRUE(row.ok());
    return row->state;
  }
  std::string database() const { return directory_.path() + "/lab.db"; }
  void by_hand(const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::unique_ptr<engine::Engine> engine_;
};

TEST_F(MachineRunsTest, ItIsTooLateToCancelWhatIsBeingStored) {
  const store::Id experiment = recorded();
  MachineRuns* all = nullptr;
  bool taken = true, had = false, over = false;
  std::optional<engine::RunEnd> came_to;
  MachineRuns::Wished wished = MachineRuns::Wished::kQuit;
  std::mutex mutex;
  std::condition_variable changed;
  MachineRuns::Listener listener = quiet();
  // As a request of its user's that comes while the end is stored.
  listener.ended = [&](store::Id id, int64_t, const Result<engine::RunEnd>& end, MachineRuns::Wished what) {
    had = all->has(id);
    taken = all->cancel(id) || all->pause(id);
    if (end) came_to = *end;
    wished = what;
  };
  listener.gone = [&] {
    const std::lock_guard<std::mutex> held(mutex);
    over = true;
    changed.notify_all();
  };
  MachineRuns runs(*engine_, listener);
  all = &runs;
  {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    const Status begun = runs.begin(experiment, 1000);
    ASSERT_TRUE(begun.ok()) << begun.error().text();
  }
  std::unique_lock<std::mutex> held(mutex);
  ASSERT_TRUE(changed.wait_for(held, std::chrono::seconds(60), [&] { return over; }));
  EXPECT_TRUE(had) << "it counts until its end is stored";
  EXPECT_FALSE(taken) << "the wish would be heard by nobody";
  EXPECT_EQ(came_to, engine::RunEnd::kDone);
  EXPECT_EQ(wished, MachineRuns::Wished::kNothing);
  EXPECT_FALSE(runs.has(experiment));
  EXPECT_FALSE(runs.cancel(experiment));
}

TEST_F(MachineRunsTest, ItEndsInTheDatabaseOfThatNameOrNotAtAll) {
  const store::Id experiment = recorded_and_running();
  std::filesystem::rename(database(), database() + ".moved");
  const Result<engine::RunEnd> moved = run(experiment);
  ASSERT_FALSE(moved.ok()) << "it is over in a file that nobody finds";
  EXPECT_EQ(moved.error().code, ErrorCode::kCorrupt) << moved.error().text();
  EXPECT_EQ(state(experiment), store::ExperimentState::kRunning);
  std::filesystem::rename(database() + ".moved", database());
  const Result<engine::RunEnd> back = run(experiment);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(*back, engine::RunEnd::kDone);
  EXPECT_EQ(state(experiment), store::ExperimentState::kDone);
}

}  // namespace
}  // namespace stab::daemon
