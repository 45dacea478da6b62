// When the laboratory fails: what was under way is planned again, the end is told once and only when it is stored, and
// nothing is tried again at once. The experiment's plan no longer parses, so every run of it is an Error.
#include "stabd/daemon/runs/engine_thread.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tests/unit/stabd/daemon/opened_engine.h"
#include "tests/unit/temporary_directory.h"

namespace stab::daemon {
namespace {

// Longer than anything here takes, shorter than the time after which the thread tries again by itself.
constexpr std::chrono::seconds kPatience{30};

class EngineThreadFailures : public testing::Test {
 protected:
  EngineThreadFailures() {
    engine_ = opened_engine(directory_.path(), clock_);
    thread_.emplace(*engine_, [] {}, [this](const EndedRun& ended, int) { heard(ended); });
  }

  // An experiment whose first trial is claimed as by a run that failed before it could store its outcome.
  store::Id claimed(uint32_t trials = 1) {
    store::Store& store = engine_->store();
    store::NewExperiment row;
    row.name = "broken";
    row.plan_text = "no plan";
    row.plan_path = "broken.toml";
    row.plan_directory = directory_.path();
    const auto id = store.add_experiment(row);
    EXPECT_TRUE(id.ok()) << id.error().text();
    store::Store::Expansion expansion;
    expansion.subjects = {{0, "true", "true", "run"}};
    expansion.cells.resize(1);
    expansion.cells[0].name = "all";
    store::BuildRow build;
    build.name = build.program = "true";
    expansion.builds = {build};
    for (uint32_t block = 0; block < trials; ++block) {
      store::NewTrial trial;
      trial.build = 0;
      trial.order = trial.block = block;
      expansion.trials.push_back(trial);
    }
    expansion.schedule_version = 1;
    expansion.replicates = trials;
    const Status expanded = store.expand(*id, expansion);
    EXPECT_TRUE(expanded.ok()) << expanded.error().text();
    const auto next = store.next_trial(*id);
    EXPECT_TRUE(next.ok() && next->has_value());
    EXPECT_TRUE(store.claim((*next)->id, {"boot", 1}).ok());
    return *id;
  }
  store::ExperimentState state(store::Id experiment) {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    const auto row = engine_->store().experiment(experiment);
    EXPECT_TRUE(row.ok()) << row.error().text();
    return row->state;
  }
  int64_t trials(store::Id experiment, store::TrialState wanted) {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    store::Store::TrialFilter filter;
    filter.state = wanted;
    const auto found = engine_->store().trials(experiment, filter);
    EXPECT_TRUE(found.ok()) << found.error().text();
    return static_cast<int64_t>(found->size());
  }

  // From another connection: the store takes no new state of an experiment, as if its disk were full.
  void by_hand(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((directory_.path() + "/lab.db").c_str(), &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 20000);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  void refuse_states() {
    by_hand("CREATE TRIGGER refuse BEFORE UPDATE OF state ON experiments BEGIN SELECT RAISE(ABORT, 'no room'); END");
  }
  void take_states() { by_hand("DROP TRIGGER refuse"); }

  void heard(const EndedRun& ended) {
    const std::lock_guard<std::mutex> held(mutex_);
    heard_.push_back(ended);
    news_.notify_all();
  }
  // The first `count` of what the thread has left, its start not counted.
  std::vector<std::string> left(size_t count) {
    std::unique_lock<std::mutex> held(mutex_);
    EXPECT_TRUE(news_.wait_for(held, kPatience, [&] { return heard_.size() > count; })) << "nothing more is heard";
    std::vector<std::string> states;
    for (size_t i = 1; i < heard_.size(); ++i) states.emplace_back(name(heard_[i].how));
    return states;
  }

  using States = std::vector<std::string>;
  TemporaryDirectory directory_;
  SystemClock clock_;
  std::unique_ptr<engine::Engine> engine_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<EndedRun> heard_;
  std::optional<EngineThread> thread_;  // last: it uses the others until it is joined
};

// Whether the thread of this number sleeps: it waits for something that another one holds.
bool sleeps(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
}

// A wish that stands at the gate while the engine chooses what it runs next is let in between the choice and the run.
class EngineThreadWishes : public EngineThreadFailures {
 protected:
  // Starts the engine with one experiment that waits, and returns when the engine waits again. The wish has been answered by
  // then.
  store::Id wish_between_choice_and_run(Status (EngineThread::*wish)(store::Id), uint32_t trials = 1) {
    const store::Id experiment = claimed(trials);
    std::atomic<pid_t> at_gate = 0;
    std::thread user;
    Status answer;
    std::promise<void> asked, looked_again;
    thread_->between_trials([&](store::Store&) {  // the gate is held, the choice is next
      user = std::thread([&] {
        at_gate = static_cast<pid_t>(::syscall(SYS_gettid));
        answer = ((*thread_).*wish)(experiment);
      });
      const auto until = std::chrono::steady_clock::now() + kPatience;
      while ((at_gate == 0 || !sleeps(at_gate)) && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(at_gate != 0 && sleeps(at_gate)) << "the wish does not stand at the gate";
      asked.set_value();
    });
    thread_->start();
    asked.get_future().wait();
    user.join();
    EXPECT_TRUE(answer.ok()) << answer.error().text();
    thread_->between_trials([&](store::Store&) { looked_again.set_value(); });
    EXPECT_EQ(looked_again.get_future().wait_for(kPatience), std::future_status::ready) << "the engine looks for no more";
    return experiment;
  }
  std::vector<EndedRun> ends() {
    const std::lock_guard<std::mutex> held(mutex_);
    return {heard_.begin() + 1, heard_.end()};  // its start not counted
  }
};

TEST_F(EngineThreadWishes, APauseBetweenChoiceAndRunHolds) {
  const store::Id experiment = wish_between_choice_and_run(&EngineThread::pause);
  EXPECT_EQ(state(experiment), store::ExperimentState::kPaused);
  EXPECT_TRUE(ends().empty()) << "it was run, and ended " << name(ends().front().how);
  EXPECT_EQ(trials(experiment, store::TrialState::kClaimed), 1) << "it was run";
}

TEST_F(EngineThreadWishes, ACancelBetweenChoiceAndRunHolds) {
  const store::Id experiment = wish_between_choice_and_run(&EngineThread::cancel);
  EXPECT_EQ(state(experiment), store::ExperimentState::kCancelled);
  EXPECT_TRUE(ends().empty()) << "it was run, and ended " << name(ends().front().how);
}

// So many are cancelled in slices, and the engine may look at the store between two of them.
TEST_F(EngineThreadWishes, ACancelOfManyTrialsBetweenChoiceAndRunHolds) {
  const store::Id experiment = wish_between_choice_and_run(&EngineThread::cancel, 5000);
  EXPECT_EQ(state(experiment), store::ExperimentState::kCancelled);
  EXPECT_TRUE(ends().empty()) << "it was run, and ended " << name(ends().front().how);
  EXPECT_EQ(trials(experiment, store::TrialState::kPlanned), 0);
}

TEST_F(EngineThreadFailures, WhatWasClaimedIsPlannedAgain) {
  const store::Id experiment = claimed();
  thread_->start();
  EXPECT_EQ(left(1), States{"failed"});
  EXPECT_EQ(state(experiment), store::ExperimentState::kFailed);
  EXPECT_EQ(trials(experiment, store::TrialState::kClaimed), 0);
  EXPECT_EQ(trials(experiment, store::TrialState::kLost), 1);
  EXPECT_EQ(trials(experiment, store::TrialState::kPlanned), 1);
}

TEST_F(EngineThreadFailures, AnEndIsToldOnceItIsStored) {
  const store::Id experiment = claimed();
  refuse_states();
  thread_->start();
  EXPECT_EQ(left(1), States{"unsettled"});
  EXPECT_EQ(state(experiment), store::ExperimentState::kReady);
  EXPECT_EQ(trials(experiment, store::TrialState::kClaimed), 0);
  thread_->kick();
  EXPECT_EQ(left(2), (States{"unsettled", "unsettled"})) << "tried again without being asked";
  EXPECT_NE(thread_->waits_for().find("no room"), std::string::npos) << thread_->waits_for();
  EXPECT_NE(thread_->waits_for().find("tried again every 60 s"), std::string::npos) << thread_->waits_for();
  take_states();
  thread_->kick();
  EXPECT_EQ(left(3), (States{"unsettled", "unsettled", "failed"}));
  EXPECT_EQ(thread_->waits_for(), "");
  EXPECT_EQ(state(experiment), store::ExperimentState::kFailed);
  EXPECT_EQ(trials(experiment, store::TrialState::kLost), 1);
}

TEST_F(EngineThreadFailures, AFailedOneIsTriedAgainWhenItIsResumed) {
  const store::Id experiment = claimed();
  thread_->start();
  EXPECT_EQ(left(1), States{"failed"});
  const Status resumed = thread_->resume(experiment);
  EXPECT_TRUE(resumed.ok()) << resumed.error().text();
  EXPECT_EQ(left(2), (States{"failed", "failed"})) << "was not tried again";
  EXPECT_EQ(state(experiment), store::ExperimentState::kFailed);
}

TEST_F(EngineThreadFailures, ACancelledOneStaysSo) {
  const store::Id experiment = claimed();
  const Status cancelled = thread_->cancel(experiment);
  EXPECT_TRUE(cancelled.ok()) << cancelled.error().text();
  const Status resumed = thread_->resume(experiment);
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().message, "experiment " + std::to_string(experiment) + " is cancelled, neither paused nor failed");
}

TEST_F(EngineThreadFailures, AnotherOneStillRunsAfterIt) {
  const store::Id first = claimed(), second = claimed();
  thread_->start();
  EXPECT_EQ(left(2), (States{"failed", "failed"}));
  EXPECT_EQ(state(first), store::ExperimentState::kFailed);
  EXPECT_EQ(state(second), store::ExperimentState::kFailed);
  EXPECT_EQ(trials(second, store::TrialState::kLost), 1) << "lost again by the other's recovery";
}

// Equal priorities: who has had the machine least is first, and of one user's the oldest.
TEST_F(EngineThreadFailures, UsersTakeTurnsByWhatTheyHaveHad) {
  const auto of_user = [&](int64_t uid) {
    const store::Id id = claimed();
    by_hand("UPDATE experiments SET submitter_uid = " + std::to_string(uid) + " WHERE id = " + std::to_string(id) +
            "; UPDATE usage SET uid = " + std::to_string(uid) + " WHERE experiment = " + std::to_string(id));
    return id;
  };
  const store::Id busy = of_user(1), busy_too = of_user(1), idle = of_user(2);
  by_hand("INSERT INTO shares VALUES(1, 5e9, " + std::to_string(clock_.realtime().count()) + ")");
  thread_->start();
  EXPECT_EQ(left(3), (States{"failed", "failed", "failed"}));
  std::vector<store::Id> order;
  for (size_t i = 1; i < heard_.size(); ++i) order.push_back(heard_[i].experiment);
  EXPECT_EQ(order, (std::vector<store::Id>{idle, busy, busy_too}));
}

TEST_F(EngineThreadFailures, WhoHadTheirTimeIsPausedAndNotRun) {
  const store::Id experiment = claimed();
  by_hand("UPDATE usage SET machine_ns = 1000 WHERE experiment = " + std::to_string(experiment));
  thread_->limit_time([](uid_t) { return std::chrono::nanoseconds(1000); });
  thread_->start();
  EXPECT_EQ(left(1), States{"paused"});
  EXPECT_EQ(state(experiment), store::ExperimentState::kPaused);
  EXPECT_EQ(trials(experiment, store::TrialState::kClaimed), 1) << "it was run";
}

TEST_F(EngineThreadFailures, WhatIsDeletedGoes) {
  const store::Id experiment = claimed(), other = claimed();
  ASSERT_TRUE(thread_->cancel(experiment).ok());
  ASSERT_TRUE(thread_->remove(experiment).ok());
  thread_->start();
  EXPECT_EQ(left(1), States{"failed"});
  const std::lock_guard<engine::Gate> gate(engine_->gate());
  EXPECT_EQ(engine_->store().experiment(experiment).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(engine_->store().experiment(other).ok());
}

}  // namespace
}  // namespace stab::daemon
