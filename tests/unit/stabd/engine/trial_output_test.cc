// What trials have printed, out of a database that may be a stranger's: bounded, safe for a terminal, the same through a daemon.
#include "stabd/engine/results/trial_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/parse.h"
#include "tests/golden/record.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TrialOutputTest : public ::testing::Test {
 protected:
  // The first trial prints `out` and fails, the others pass.
  void record(const std::string& out, int64_t bytes) {
    store_.emplace(*store::Store::open(directory_.path() + "/outputs.db", store::Store::Access::kWrite));
    const plan::Parsed parsed = plan::parse_plan(
        "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 1\n[factors]\nopt = [\"a\", \"b\"]\n"
        "[[program]]\nname = \"p\"\nrun = [\"true\", \"{opt}\"]\n",
        "x.toml");
    ASSERT_TRUE(parsed.plan) << toml::render(parsed.errors);
    const auto id = record_experiment(*store_, *parsed.plan,
                                      [&](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
                                        outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
                                        outcome.stdout_bytes = bytes;
                                        outcome.stderr_bytes = 0;
                                        if (trial.order != 0) return;
                                        failed_ = trial.id;
                                        outcome.state = store::TrialState::kFailed;
                                        outcome.failure = "exit status 3\nnot 0\x1b[2J";
                                        outcome.exit_status = 3;
                                        outcome.stdout_head = out;
                                      });
    ASSERT_TRUE(id) << id.error().message;
    experiment_ = *id;
  }

  TemporaryDirectory directory_;
  std::optional<store::Store> store_;
  store::Id experiment_ = 0, failed_ = 0;
};

TEST_F(TrialOutputTest, IsSafeForATerminalAndSetIn) {
  record("one\x1b]0;owned\x07\ntrial 9 of y: passed\n", 33);
  const auto output = trial_output(*store_, failed_);
  ASSERT_TRUE(output) << output.error().message;
  const std::string text = output_text(*output);
  EXPECT_THAT(text, HasSubstr(" of x (1): p, opt="));
  EXPECT_THAT(text, HasSubstr(", attempt 1: failed\n    exit status 3\n    not 0?[2J\n"));
  EXPECT_THAT(text, HasSubstr("stdout: 33 bytes\n    one?]0;owned?\n    trial 9 of y: passed\nstderr: nothing\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST_F(TrialOutputTest, IsBoundedWhateverTheDatabaseHolds) {
  std::string umlauts;
  while (umlauts.size() < (1 << 20)) umlauts += umlauts.empty() ? "zxyü" : "xyü";
  record(umlauts, 1 << 30);
  const auto output = trial_output(*store_, failed_);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out.head.size(), kShownOutputBytes - 1) << "no letter is cut in two";
  EXPECT_THAT(output_text(*output), HasSubstr("stdout: the first 16,383 of 1,073,741,824 bytes\n"));
}

TEST_F(TrialOutputTest, IsTheSameByWayOfADaemon) {
  record("caf\xe9 \xff\n", 7);
  const auto output = trial_output(*store_, failed_);
  ASSERT_TRUE(output);
  const auto again = parse_output(output_json(*output));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(output_json(*again), output_json(*output));
  EXPECT_EQ(again->exit_status, 3);
  for (const char* none : {"", "[]", "{}", R"({"trial": "x"})"}) EXPECT_FALSE(parse_output(none)) << none;
  std::string strange = output_json(*output);
  strange.replace(strange.find("\"failed\""), 8, "\"eaten\"");
  EXPECT_FALSE(parse_output(strange));
}

TEST_F(TrialOutputTest, ThoseThatDidNotPassAreListedWithoutWhatTheyPrinted) {
  record("secret", 6);
  const auto list = trials_not_passed(*store_, experiment_, 10);
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ(list->front().trial, failed_);
  EXPECT_THAT(output_json(list->front()), Not(HasSubstr("secret")));
  EXPECT_TRUE(trials_not_passed(*store_, experiment_, 0)->empty());
}

TEST_F(TrialOutputTest, OfATrialThatPassedThereIsALengthAndAHash) {
  record("", 5);
  store::Store::TrialFilter filter;
  filter.state = store::TrialState::kRecorded;
  const store::Id passed = store_->trials(experiment_, filter)->front().id;
  EXPECT_THAT(output_text(*trial_output(*store_, passed)), HasSubstr("stdout: 5 bytes, SHA-256 "));
  EXPECT_THAT(output_text(*trial_output(*store_, passed)), HasSubstr("'stabctl replay " + std::to_string(passed) + "'"));
  EXPECT_EQ(trial_output(*store_, 12345).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stab::engine
