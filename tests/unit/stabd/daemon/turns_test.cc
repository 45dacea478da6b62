// Whose turn it is among experiments that wait, where some of them can't use the machine as a gate of their plan is closed.
#include "stabd/daemon/runs/turns.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "tests/unit/stabd/daemon/opened_engine.h"
#include "tests/unit/temporary_directory.h"

namespace stab::daemon {
namespace {

using std::chrono::seconds;

class TurnsTest : public testing::Test {
 protected:
  TurnsTest() {
    engine_ = opened_engine(directory_.path(), clock_);
    turns_.emplace(*engine_);
  }

  store::Id waiting(int priority = 0) {
    store::NewExperiment row;
    row.name = "waits";
    row.plan_text = "no plan";
    row.plan_path = "waits.toml";
    row.plan_directory = directory_.path();
    row.priority = priority;
    const auto id = engine_->store().add_experiment(row);
    EXPECT_TRUE(id.ok()) << id.error().text();
    return *id;
  }
  store::Id first() {
    const auto found = turns_->first([](store::Id) { return false; });
    EXPECT_TRUE(found.ok()) << found.error().text();
    return found && *found ? (*found)->id : 0;
  }

  TemporaryDirectory directory_;
  FakeClock clock_;
  std::unique_ptr<engine::Engine> engine_;
  std::optional<Turns> turns_;
};

TEST_F(TurnsTest, WhoStandsBackComesBehindItsPriorityForAMinute) {
  const store::Id gated = waiting(), other = waiting();
  EXPECT_EQ(first(), gated);
  turns_->stand_back(gated);
  EXPECT_EQ(first(), other);
  clock_.advance(seconds(59));
  EXPECT_EQ(first(), other);
  clock_.advance(seconds(1));
  EXPECT_EQ(first(), gated);
  EXPECT_FALSE(turns_->stands_back(gated));
}

TEST_F(TurnsTest, WhoStandsBackStillComesBeforeLowerPriorities) {
  const store::Id gated = waiting(1);
  waiting(0);
  turns_->stand_back(gated);
  EXPECT_EQ(first(), gated) << "the machine would be another one's for as long as that likes";
}

TEST_F(TurnsTest, WhoStandsBackAloneIsFirst) {
  const store::Id gated = waiting();
  turns_->stand_back(gated);
  EXPECT_EQ(first(), gated) << "the machine would be nobody's";
}

}  // namespace
}  // namespace stab::daemon
