// A run that has come to its end, while that is being stored: nobody hears a wish any more, and whoever wishes stores it.
#include "stabd/machine_runs.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "plan/parse.h"
#include "tests/golden/record.h"
#include "tests/unit/stabd/opened_engine.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
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
    EXPECT_TRUE(parsed.plan) << plan::render(parsed.errors);
    const auto id = record_experiment(
        engine_->store(), *parsed.plan,
        [](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) { outcome.wall_ns = 1'000'000'000; });
    EXPECT_TRUE(id.ok()) << id.error().text();
    return *id;
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(MachineRunsTest, ItIsTooLateToCancelWhatIsBeingStored) {
  const store::Id experiment = recorded();
  MachineRuns* all = nullptr;
  bool taken = true, had = false, over = false;
  std::optional<RunEnd> came_to;
  MachineRuns::Wished wished = MachineRuns::Wished::kQuit;
  std::mutex mutex;
  std::condition_variable changed;
  MachineRuns::Listener listener;
  listener.said = [](store::Id, int64_t, bool, const std::string&) {};
  listener.may_go_on = [](store::Id, int64_t) { return true; };
  listener.why_no_room = [](int64_t, int64_t) { return std::string(); };
  // As a request of its user's that comes while the end is stored.
  listener.ended = [&](store::Id id, int64_t, const Result<RunEnd>& end, MachineRuns::Wished what) {
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
    const std::lock_guard<Gate> gate(engine_->gate());
    const Status begun = runs.begin(experiment, 1000);
    ASSERT_TRUE(begun.ok()) << begun.error().text();
  }
  std::unique_lock<std::mutex> held(mutex);
  ASSERT_TRUE(changed.wait_for(held, std::chrono::seconds(60), [&] { return over; }));
  EXPECT_TRUE(had) << "it counts until its end is stored";
  EXPECT_FALSE(taken) << "the wish would be heard by nobody";
  EXPECT_EQ(came_to, RunEnd::kDone);
  EXPECT_EQ(wished, MachineRuns::Wished::kNothing);
  EXPECT_FALSE(runs.has(experiment));
  EXPECT_FALSE(runs.cancel(experiment));
}

}  // namespace
}  // namespace stab::engine
