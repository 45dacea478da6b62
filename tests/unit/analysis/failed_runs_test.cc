// What a gate makes of runs that failed: Fisher's test against R's fisher.test, and an answer in each of its outputs.
#include "analysis/commands/answers/failed_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/commands/gate/gate.h"

namespace stab::analysis {
namespace {

using commands::FailedRuns;
using report::Worse;
using testing::HasSubstr;
using testing::Not;

// Ten blocks of one program whose head takes as long.
report::Samples equal_sides() {
  report::Samples samples;
  samples.experiment = "gate";
  samples.workloads = {"work"};
  samples.factors = {{.name = "code", .levels = {"shuffle"}, .layout = true},
                     {.name = "revision", .levels = {"base", "head"}}};
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.02}};
  for (uint32_t i = 0; i < 40; ++i) {
    report::Trial trial;
    trial.levels = {0, static_cast<uint16_t>(i % 2)};
    trial.block = i / 2;
    trial.order = i;
    trial.seed = trial.layout = 100 + i;
    trial.values = {1 + 0.001 * ((7 * i) % 11)};
    samples.trials.push_back(trial);
  }
  samples.planned = 40;
  return samples;
}

commands::GateOutput gate_with(const FailedRuns& runs) {
  commands::GateFacts facts;
  facts.base = "aaaa", facts.head = "bbbb", facts.command = "stabctl gate aaaa..bbbb", facts.seconds = 12.5;
  facts.failed = {{"work", runs}};
  const auto output = commands::run_gate(equal_sides(), facts);
  EXPECT_TRUE(output) << output.error().message;
  return output ? *output : commands::GateOutput{};
}

TEST(FailedRuns, PIsFishers) {
  // fisher.test(matrix(c(head_failed, head_passed, base_failed, base_passed), 2), alternative = "greater")$p.value
  EXPECT_NEAR(commands::p_of_failures({0, 40, 3, 43}), 0.1343150379294957, 1e-12);
  EXPECT_NEAR(commands::p_of_failures({0, 20, 8, 28}), 0.0082366855336044719, 1e-12);
  EXPECT_NEAR(commands::p_of_failures({5, 25, 9, 29}), 0.27189280906968094, 1e-12);
  EXPECT_NEAR(commands::p_of_failures({3, 23, 0, 20}), 1, 1e-12);
}

TEST(FailedRuns, AHeadThatFailsMoreOftenIsWorse) {
  EXPECT_EQ(commands::worse_by_failures({0, 20, 8, 28}, 0.05, 1), Worse::kYes);
  EXPECT_EQ(commands::worse_by_failures({0, 20, 1, 21}, 0.05, 1), Worse::kUnsure);
  EXPECT_EQ(commands::worse_by_failures({2, 22, 1, 21}, 0.05, 1), Worse::kNo);
  EXPECT_EQ(commands::worse_by_failures({2, 22, 0, 20}, 0.05, 1), Worse::kNo);
  EXPECT_EQ(commands::worse_by_failures({0, 20, 5, 25}, 0.05, 1), Worse::kYes);
  EXPECT_EQ(commands::worse_by_failures({0, 20, 5, 25}, 0.05, 10), Worse::kUnsure) << "ten workloads share alpha";
}

TEST(FailedRuns, TheGateSaysItEverywhere) {
  const commands::GateOutput sound = gate_with({0, 20, 0, 20});
  EXPECT_EQ(sound.exit_code, 0);
  EXPECT_THAT(sound.text, Not(HasSubstr("fail")));
  EXPECT_THAT(sound.junit, HasSubstr(" time=\"12.500000000\""));
  EXPECT_THAT(sound.junit, HasSubstr("name=\"work\" time=\"1.00"));

  const commands::GateOutput once = gate_with({0, 20, 1, 21, "signal 11"});
  EXPECT_EQ(once.exit_code, 3);
  EXPECT_THAT(once.text, HasSubstr("unsure, runs of it failed; code: no regression"));
  EXPECT_THAT(once.text, HasSubstr("work: 1 of 21 runs of HEAD failed (signal 11), and none of 20 of BASE"));
  EXPECT_THAT(once.junit, HasSubstr("skipped=\"1\""));
  EXPECT_THAT(once.markdown, HasSubstr("runs of HEAD failed"));

  const commands::GateOutput often = gate_with({0, 20, 8, 28, "signal 11"});
  EXPECT_EQ(often.exit_code, 1);
  EXPECT_THAT(often.text, HasSubstr("bbbb against aaaa: worse, it fails more often; code: no regression"));
  EXPECT_THAT(often.junit, HasSubstr("failures=\"1\""));
  EXPECT_THAT(often.junit, HasSubstr("name=\"failed runs\""));
  const auto often_json = nlohmann::json::parse(often.json);
  EXPECT_EQ(often_json["answer"], "worse");
  EXPECT_EQ(often_json["decision"]["action"], "reject");
  EXPECT_EQ(often_json["decision"]["exit_status"], 1);
  EXPECT_FALSE(often_json["decision"].contains("largest"));
  EXPECT_EQ(often_json["failed_runs"][0]["head_failed"], 8);
  EXPECT_EQ(often_json["failed_runs"][0]["answer"], "worse");
  EXPECT_THAT(often.markdown, HasSubstr("it fails more often"));

  const commands::GateOutput both = gate_with({3, 23, 4, 24, "signal 11"});
  EXPECT_EQ(both.exit_code, 0) << "the base fails, too";
  EXPECT_THAT(both.text, HasSubstr("3 of 23 of BASE"));
}

TEST(FailedRuns, WhereTrialsEndedTheHeadIsWorseOrThereIsNoAnswer) {
  commands::GateFacts facts;
  facts.base = "aaaa", facts.head = "bbbb";
  facts.failed = {{"work", {0, 6, 7, 10, "exit status 3"}}};
  const commands::GateOutput worse = commands::gate_of_failures(facts, 0.05);
  EXPECT_EQ(worse.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(worse.json)["decision"]["action"], "reject");
  EXPECT_THAT(worse.junit, HasSubstr("failures=\"1\""));
  facts.failed = {{"work", {0, 1, 3, 3, "exit status 3"}}};
  const commands::GateOutput none = commands::gate_of_failures(facts, 0.05);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.text, HasSubstr("3 of 3 runs of HEAD failed (exit status 3), and none of 1 of BASE"));
}

}  // namespace
}  // namespace stab::analysis
