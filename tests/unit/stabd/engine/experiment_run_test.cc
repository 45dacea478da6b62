// Whole experiments on an engine. Of one whose rows are not those that its plan makes, as a bundle of anybody's may have it,
// nothing runs; and what has been prepared is cleaned up, whatever becomes of its trial.
#include "stabd/engine/experiment/experiment_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "plan/parse.h"
#include "stabd/engine/experiment/engine.h"
#include "store/sqlite.h"
#include "tests/places.h"
#include "tests/unit/stabd/engine/own_broker.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using ::testing::HasSubstr;

class Quiet final : public Observer {
 public:
  void phase(std::string_view) override {}
  void note(std::string_view) override {}
  void trial_done(const TrialNews&) override {}
};

class ExperimentRunTest : public testing::Test {
 protected:
  ExperimentRunTest() {
    Engine::Options options;
    options.database = directory_.path() + "/lab.db";
    options.clock = &clock_;
    options.broker = own_broker(directory_.path() + "/broker");
    options.installation.bin = STAB_BUILD_ROOT "/bin";
    options.installation.launcher = STAB_LAUNCHER;
    options.installation.worker = STAB_PROGRAMS "/stab-worker";
    auto engine = Engine::open(options);
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    if (!engine) std::abort();
    engine_ = *std::move(engine);
  }

  store::Id submitted(const std::string& text) {
    const plan::Parsed parsed = plan::parse_plan(text, "plan.toml");
    EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors);
    if (!parsed.plan) std::abort();
    const auto id = engine_->submit(*parsed.plan, directory_.path(), ::geteuid(), ::getegid());
    EXPECT_TRUE(id.ok()) << id.error().text();
    return *id;
  }
  // With its rows, and no trial of it has run.
  store::Id planned() {
    const store::Id id = submitted(
        "[experiment]\nname = \"planned\"\nseed = 5\nreplicates = 1\npreflight = false\n[[program]]\nname = \"true\"\n"
        "run = [\"/bin/true\"]\n");
    const auto built = engine_->build(id, quiet_, stop_);
    EXPECT_TRUE(built.ok() && *built == RunEnd::kDone);
    return id;
  }
  // As another program could.
  void by_hand(const std::string& sql) {
    auto database = store::Database::open(directory_.path() + "/lab.db", store::Database::Mode::kCreate, nullptr);
    ASSERT_TRUE(database.ok()) << database.error().text();
    const Status done = database->execute(sql.c_str());
    ASSERT_TRUE(done.ok()) << done.error().text();
  }
  std::string why_not(store::Id experiment) {
    const auto end = engine_->run(experiment, quiet_, stop_);
    if (end) return "";
    EXPECT_EQ(end.error().code, ErrorCode::kCorrupt);
    return end.error().message;
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  Quiet quiet_;
  StopSignal stop_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(ExperimentRunTest, WhatIsOfItsPlanRuns) {
  const store::Id experiment = planned();
  EXPECT_EQ(why_not(experiment), "");
  EXPECT_EQ(engine_->store().progress(experiment)->count(store::TrialState::kRecorded), 1);
}

TEST_F(ExperimentRunTest, ATrialOfACellThatThePlanDoesNotMakeIsNotRun) {
  const store::Id experiment = planned();
  by_hand("INSERT INTO cells SELECT experiment, 100000, 'far', code, stack, heap, epoch_ns, env_size_bytes FROM cells; "
          "UPDATE trials SET cell = 100000");
  EXPECT_THAT(why_not(experiment), HasSubstr("has 2 cells, up to number 100000, and its plan makes 1"));
}

TEST_F(ExperimentRunTest, ATrialOfASubjectThatThePlanDoesNotMakeIsNotRun) {
  const store::Id experiment = planned();
  by_hand("UPDATE subjects SET subject = 100000; UPDATE trials SET subject = 100000");
  EXPECT_THAT(why_not(experiment), HasSubstr("has 1 subject, up to number 100000, and its plan makes 1"));
}

TEST_F(ExperimentRunTest, ABuildThatThePlanDoesNotMakeIsNotMade) {
  const store::Id experiment = planned();
  by_hand("UPDATE builds SET build = 100000");
  EXPECT_THAT(why_not(experiment), HasSubstr("has 1 build, up to number 100000, and its plan makes 1"));
}

// The trials of a sliced block are all prepared before the first one runs.
TEST_F(ExperimentRunTest, WhatIsPreparedForABlockThatCanNotRunIsCleanedUp) {
  const std::string log = directory_.path() + "/around";
  const auto says = [&](const std::string& what, const std::string& then) {
    return "[\"/bin/sh\", \"-c\", \"echo " + what + "-{side} >> " + log + then + "\"]";
  };
  const store::Id experiment = submitted(
      "[experiment]\nname = \"around\"\nseed = 5\nreplicates = 6\npreflight = false\nblocks = \"sliced\"\nalone = \"0%\"\n"
      "[factors]\nside = [\"good\", \"bad\"]\n[[program]]\nname = \"true\"\nrun = [\"/bin/true\"]\nprepare = " +
      says("prepare", "; test {side} = good") + "\ncleanup = " + says("cleanup", "") + "\n");
  const auto end = engine_->run(experiment, quiet_, stop_);
  ASSERT_TRUE(end.ok()) << end.error().text();
  EXPECT_EQ(*end, RunEnd::kGaps);
  std::map<std::string, int> times;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) ++times[line];
  EXPECT_EQ(times["prepare-bad"], kMaxAttempts);
  EXPECT_EQ(times["cleanup-bad"], 0) << "where prepare fails there is nothing to clean up";
  EXPECT_GT(times["prepare-good"], 6) << "in no block was the good one prepared first";
  EXPECT_EQ(times["cleanup-good"], times["prepare-good"]);
}

}  // namespace
}  // namespace stab::engine
