// Benchmarks of a program's own output as responses: their families, their tables, and what a gate makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/commands/gate/gate.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/rendering/first_screen.h"
#include "analysis/report/report_data/report.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/text/valid_text.h"
#include "base/rng.h"
#include "tests/places.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/report_of.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two workloads, of which the first is a suite: `benchmarks` of it, log ratio of head to base by `effect`. The last ones
// belong to no family.
report::Samples suite(int benchmarks, int declared, const std::function<double(int)>& effect, uint64_t seed = 1,
                      int replicates = 12) {
  report::Samples samples;
  samples.experiment = "suite";
  samples.workloads = {"suite", "tool"};
  samples.factors = {{commands::kGateFactor, {commands::kGateBase, commands::kGateHead}, false, 0}};
  samples.responses = {{.name = "wall_time", .unit = "s", .margin = 0.05}};
  for (int i = 0; i < benchmarks; ++i)
    samples.responses.push_back(
        {.name = "b" + std::to_string(i),
         .unit = "s",
         .margin = 0.05,
         .margin_is_share = true,
         .declared = i < declared,
         .only_workload = 0,
         .family = i < declared ? "core" : "",
         .error_rate = i < declared ? report::ErrorRate::kFamilyWise : report::ErrorRate::kFalseDiscovery});
  Rng rng = Rng::stream(seed, "suite");
  uint32_t order = 0;
  for (int block = 0; block < replicates; ++block) {
    for (uint32_t workload = 0; workload < 2; ++workload) {
      for (uint16_t head = 0; head < 2; ++head) {
        report::Trial trial;
        trial.workload = workload;
        trial.levels = {head};
        trial.block = static_cast<uint32_t>(block);
        trial.order = order++;
        trial.layout = trial.seed = rng.next();
        trial.values.push_back(std::exp(0.01 * standard_normal(rng)));
        for (int i = 0; i < benchmarks; ++i) {
          trial.values.emplace_back();
          const double log = 0.01 * standard_normal(rng) + (head == 1 ? effect(i) : 0);
          if (workload == 0) trial.values.back() = 1e-6 * std::exp(log);
        }
        samples.trials.push_back(std::move(trial));
      }
    }
  }
  samples.planned = order;
  return samples;
}

std::vector<report::Contrast> contrasts_of(const report::Report& report, const std::string& family) {
  std::vector<report::Contrast> out;
  for (const report::Contrast& contrast : report.contrasts)
    for (const report::Response& response : report.responses)
      if (response.name == contrast.response && response.is_benchmark() && response.family == family) out.push_back(contrast);
  return out;
}

TEST(Benchmarks, EachIsAskedOnceOfItsWorkload) {
  const report::Report report = report_of(suite(6, 2, [](int) { return 0.0; }));
  EXPECT_EQ(contrasts_of(report, "core").size(), 2u);
  EXPECT_EQ(contrasts_of(report, "").size(), 4u);
  for (const report::Contrast& contrast : contrasts_of(report, "")) {
    EXPECT_EQ(contrast.workload, "suite");
    EXPECT_EQ(contrast.population, report::Population::kOneWorkload);
    EXPECT_EQ(contrast.refused, "");
  }
  for (const report::AnovaTable& table : report.anovas) EXPECT_EQ(table.response, "wall_time");
}

TEST(Benchmarks, DeclaredOnesAreHolmsAndOthersOfTheFalseDiscoveryRate) {
  const report::Report report = report_of(suite(12, 5, [](int i) { return 0.004 * i; }));
  for (const auto& [family, adjust] : {std::pair{"core", &statistics::holm}, std::pair{"", &statistics::benjamini_yekutieli}}) {
    const std::vector<report::Contrast> contrasts = contrasts_of(report, family);
    std::vector<double> p, equivalence;
    for (const report::Contrast& contrast : contrasts) {
      p.push_back(contrast.p_value);
      equivalence.push_back(contrast.p_equivalence);
    }
    const std::vector<double> adjusted = adjust(p), of_equivalence = adjust(equivalence);
    for (size_t i = 0; i < contrasts.size(); ++i) {
      EXPECT_DOUBLE_EQ(contrasts[i].p_holm, adjusted[i]) << family << i;
      EXPECT_DOUBLE_EQ(contrasts[i].p_equivalence_holm, of_equivalence[i]) << family << i;
    }
  }
}

// What is planted must not cost wall_time anything: its family is its own.
TEST(Benchmarks, TheyDontShareAFamilyWithTheResponses) {
  const auto none = [](int) { return 0.0; };
  const report::Report with = report_of(suite(40, 40, none)), without = report_of(suite(1, 1, none));
  const auto families = [](const report::Report& report) {
    std::vector<double> ratio;
    for (const report::Contrast& contrast : report.contrasts)
      if (contrast.response == "wall_time" && contrast.population == report::Population::kOneWorkload)
        ratio.push_back(std::min(contrast.p_value * 2, 1.0) >= contrast.p_holm - 1e-12 ? 1 : 0);
    return ratio;
  };
  EXPECT_EQ(families(with), (std::vector<double>{1, 1}));
  EXPECT_EQ(families(without), (std::vector<double>{1, 1}));
}

// 40 experiments of 50 benchmarks without a difference: the share with any false answer in the declared family is about
// alpha at most, 2 of 40 on average; 8 happen once in a thousand such tests.
TEST(Benchmarks, AFamilyRaisesFewFalseAlarms) {
  int alarms = 0, found = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    report::Samples samples = suite(50, 50, [](int) { return 0.0; }, seed, 8);
    for (report::Response& response : samples.responses) response.margin = 1e-6;
    const report::Report report = report_of(samples);
    const auto contrasts = contrasts_of(report, "core");
    alarms += std::any_of(contrasts.begin(), contrasts.end(),
                          [](const report::Contrast& c) { return c.verdict == report::Verdict::kChanged; });
    for (const report::Contrast& contrast : contrasts) found += contrast.p_value < 0.05;
  }
  EXPECT_LT(alarms, 8);
  EXPECT_NEAR(found, 100, 45);  // unadjusted ones are what they should be
}

TEST(Benchmarks, FiveHundredOfThemStayReadable) {
  const report::Report report = report_of(suite(500, 100, [](int i) { return i % 50 == 0 ? 0.2 : 0.0; }));
  const std::string text = report::render_terminal(report, 120, false);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 150);
  EXPECT_THAT(text, HasSubstr("Benchmarks of suite, family core (Holm over 100)"));
  EXPECT_THAT(text, HasSubstr("Benchmarks of suite, exploratory (false discovery rate over 400)"));
  EXPECT_THAT(text, HasSubstr("2 changed, 98 the same within the margin"));
  const std::string screen = report::render_first_screen(report, {}, 120, false);
  EXPECT_THAT(screen, HasSubstr("b0, revision=head against base: "));
  EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), 50);
}

// `suite` measures itself, which explain refuses.
const commands::GateFacts kFacts{.base = "aaaa", .head = "bbbb", .command = "stabctl gate aaaa..bbbb --plan x.toml",
                                 .unfinished = {},
                                 .cause_commands = {{"tool", "stabctl explain aaaa..bbbb --plan x.toml --workload tool"}}};

TEST(Gate, PassesWhereNothingIsWorse) {
  const auto gate = commands::run_gate(suite(3, 3, [](int i) { return i == 1 ? -0.3 : 0.0; }), kFacts);
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->exit_code, 0);
  EXPECT_THAT(gate->text, HasSubstr("no regression beyond 5 % in 4 questions"));
  EXPECT_THAT(gate->junit, HasSubstr("tests=\"4\" failures=\"0\""));
  // The suite's own time is no question, the tool's is.
  EXPECT_THAT(gate->junit, Not(HasSubstr("name=\"suite\"")));
  EXPECT_THAT(gate->junit, HasSubstr("name=\"tool\""));
}

TEST(Gate, FailsForADeclaredOneAndForAnExploratoryOne) {
  for (const int declared : {3, 0}) {
    const auto gate = commands::run_gate(suite(3, declared, [](int i) { return i == 1 ? 0.3 : 0.0; }), kFacts);
    ASSERT_TRUE(gate.ok());
    EXPECT_EQ(gate->exit_code, 1) << declared;
    EXPECT_THAT(gate->text, HasSubstr("worse: 1 regression, the largest b1 +"));
    EXPECT_THAT(gate->junit, HasSubstr("<failure message=\"worse: +"));
    EXPECT_THAT(gate->json, HasSubstr("\"answer\": \"worse\""));
  }
}

TEST(Gate, AnUnsureOneHoldsItOpenIfItIsDeclared) {
  report::Samples samples = suite(3, 2, [](int) { return 0.0; });
  const auto scatter = [&](size_t response) {
    Rng rng = Rng::stream(5, "scatter");
    for (report::Trial& trial : samples.trials)
      if (trial.values[response]) *trial.values[response] *= std::exp(0.5 * standard_normal(rng));
  };
  scatter(3);
  EXPECT_EQ(commands::run_gate(samples, kFacts)->exit_code, 0);
  EXPECT_THAT(commands::run_gate(samples, kFacts)->text, HasSubstr("unsure (exploratory)"));
  scatter(1);
  EXPECT_EQ(commands::run_gate(samples, kFacts)->exit_code, 3);
}

TEST(Gate, WhatIsUnfinishedIsUnsure) {
  report::Samples samples = suite(3, 3, [](int) { return 0.0; });
  samples.incomplete = true;
  const auto gate = commands::run_gate(samples, {"aaaa", "bbbb", "", "the budget of 2s ended first"});
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->exit_code, 3);
  EXPECT_THAT(gate->text, HasSubstr("the budget of 2s ended first"));
}

// The end of the time that was given is a look, too: what it shows is an answer, and what is of no whole block isn't in it.
TEST(Gate, WhereTheTimeWasOverItAnswers) {
  commands::GateFacts over = kFacts;
  over.unfinished = "the budget of 2s ended first", over.is_over_time = true;
  const auto cut = [&](uint32_t blocks, std::vector<uint32_t> looks, double effect) {
    report::Samples samples = suite(2, 2, [&](int i) { return i == 1 ? effect : 0.0; });
    std::erase_if(samples.trials, [&](const report::Trial& trial) {
      return trial.block > blocks || (trial.block == blocks && trial.levels[0] == 1);
    });
    samples.incomplete = true;
    if (!looks.empty()) samples.stopping.rule = report::StoppingRule::kLooks;
    samples.stopping.looks = std::move(looks);
    over.whole_blocks = blocks;
    return *commands::run_gate(samples, over);
  };
  for (const std::vector<uint32_t>& looks : {std::vector<uint32_t>{10, 20, 40}, {}}) {
    const commands::GateOutput worse = cut(7, looks, 0.3), fine = cut(8, looks, 0);
    EXPECT_EQ(worse.exit_code, 1) << worse.text;
    EXPECT_EQ(fine.exit_code, 0) << fine.text;
    EXPECT_THAT(worse.text, HasSubstr("the budget of 2s ended first: the answer is of 7 blocks\n"));
    EXPECT_THAT(worse.markdown, HasSubstr("ended first: the answer is of 7 blocks\n"));
    EXPECT_EQ(nlohmann::json::parse(worse.json)["questions"][0]["n"], 7);
    EXPECT_EQ(nlohmann::json::parse(fine.json)["unfinished"], "the budget of 2s ended first: the answer is of 8 blocks");
    EXPECT_EQ(cut(5, looks, 0.3).exit_code, 3) << "too few to know their spread";
    EXPECT_THAT(cut(5, looks, 0.3).text, HasSubstr("without an answer: the budget of 2s ended first"));
  }
  EXPECT_EQ(cut(4, {4, 20}, 0.3).exit_code, 1) << "a look that was declared";
  // Between two looks, and open: what it takes is said.
  report::Samples samples = suite(2, 2, [](int) { return 0.0; });
  samples.incomplete = true;
  samples.stopping = {.rule = report::StoppingRule::kLooks, .looks = {8, 40}};
  for (report::Response& response : samples.responses) response.margin = 0.002;
  over.whole_blocks = UINT32_MAX;
  const auto open = commands::run_gate(samples, over);
  EXPECT_EQ(open->exit_code, 3);
  EXPECT_THAT(open->text, HasSubstr("replicates of each (now 12)"));
  EXPECT_THAT(open->text, HasSubstr("the answer is of 12 blocks"));
  // Who interrupts it may have seen how it goes.
  over.is_over_time = false;
  for (report::Response& response : samples.responses) response.margin = 0.05;
  EXPECT_EQ(commands::run_gate(samples, over)->exit_code, 3);
}

// What is printed, written and returned says one thing, also where no trial was over.
TEST(Gate, WithoutTrialsItIsUnsureEverywhere) {
  const commands::GateOutput gate = commands::gate_without_trials({"aaaa", "bbbb", "", "the budget of 2s ended first"});
  EXPECT_EQ(gate.exit_code, 3);
  EXPECT_THAT(gate.text, HasSubstr("bbbb against aaaa: unsure, no question has an answer: the budget of 2s ended first"));
  EXPECT_THAT(gate.markdown, HasSubstr("unsure, no question has an answer"));
  EXPECT_THAT(gate.json, HasSubstr("\"answer\": \"unsure\""));
  EXPECT_THAT(gate.json, HasSubstr("\"unfinished\": \"the budget of 2s ended first\""));
  EXPECT_THAT(gate.json, HasSubstr("\"trials\": 0,\n"));
  EXPECT_THAT(gate.json, HasSubstr("\"action\": \"repeat\""));
  EXPECT_THAT(gate.json, HasSubstr("\"questions\": []"));
  EXPECT_THAT(gate.junit, HasSubstr("errors=\"0\" skipped=\"1\""));
  const commands::GateOutput none = commands::gate_without_answer(kFacts, "a build failed");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.json, HasSubstr("\"answer\": \"none\""));
  EXPECT_THAT(none.json, HasSubstr("\"command\": \"stabctl gate aaaa..bbbb --plan x.toml\""));
  EXPECT_THAT(none.junit, HasSubstr("errors=\"1\" skipped=\"0\""));
}

// A program that decides reads one object, whatever the answer is.
TEST(Gate, ItsDecisionIsForPrograms) {
  const auto decision = [](const report::Samples& samples) {
    return nlohmann::json::parse(commands::run_gate(samples, kFacts)->json)["decision"];
  };
  const auto worse = decision(suite(3, 3, [](int i) { return i == 1 ? 0.3 : i == 2 ? 0.2 : 0.0; }));
  EXPECT_EQ(worse["action"], "reject");
  EXPECT_EQ(worse["exit_status"], 1);
  EXPECT_EQ(worse["error_rate"], 0.05);
  EXPECT_THAT(worse["error"], HasSubstr("no declared response is worse"));
  EXPECT_EQ(worse["largest"]["response"], "b1");
  EXPECT_EQ(worse["largest"]["unit"], "share");
  EXPECT_NEAR(worse["largest"]["cost"].get<double>(), std::exp(0.3) - 1, 0.05);
  EXPECT_LT(worse["largest"]["cost_low"], worse["largest"]["cost"]);
  EXPECT_LT(worse["largest"]["cost"], worse["largest"]["cost_high"]);
  EXPECT_EQ(worse["command"], "stabctl gate aaaa..bbbb --plan x.toml");
  EXPECT_FALSE(worse.contains("cause_command")) << "of a suite's benchmarks explain can't tell the cause";
  report::Samples slow_tool = suite(3, 3, [](int i) { return i == 1 ? 0.3 : 0.0; });
  for (report::Trial& trial : slow_tool.trials)
    if (trial.workload == 1 && trial.levels[0] == 1) *trial.values[0] *= 1.2;
  EXPECT_EQ(decision(slow_tool)["largest"]["response"], "b1");
  EXPECT_EQ(decision(slow_tool)["cause_command"], "stabctl explain aaaa..bbbb --plan x.toml --workload tool");
  EXPECT_FALSE(worse.contains("settles_replicates"));
  const auto found = decision(suite(3, 0, [](int i) { return i == 1 ? 0.3 : 0.0; }));
  EXPECT_EQ(found["action"], "reject");
  EXPECT_THAT(found["error"], HasSubstr("exploratory"));
  const auto fine = decision(suite(3, 3, [](int) { return 0.0; }));
  EXPECT_EQ(fine["action"], "accept");
  EXPECT_EQ(fine["exit_status"], 0);
  EXPECT_THAT(fine["error"], HasSubstr("worse by the margin"));
  EXPECT_FALSE(fine.contains("cause_command"));
  report::Samples samples = suite(3, 3, [](int) { return 0.0; });
  for (report::Response& response : samples.responses) response.margin = 0.002;
  const auto unsure = decision(samples);
  EXPECT_EQ(unsure["action"], "repeat");
  EXPECT_EQ(unsure["exit_status"], 3);
  EXPECT_FALSE(unsure.contains("error_rate"));
  EXPECT_GT(unsure["settles_replicates"].get<int>(), 20);
}

// Where higher is better a cost is what is lost, and no number of replicates settles what is removed.
TEST(Gate, ADecisionsCostAndWhatSettlesIt) {
  report::Samples samples = suite(2, 2, [](int i) { return i == 1 ? -0.3 : 0.0; });
  for (report::Response& response : samples.responses) response.higher_is_better = response.name == "b1";
  const auto worse = nlohmann::json::parse(commands::run_gate(samples, kFacts)->json)["decision"];
  EXPECT_EQ(worse["largest"]["response"], "b1");
  EXPECT_NEAR(worse["largest"]["cost"].get<double>(), std::exp(0.3) - 1, 0.05);
  EXPECT_LT(worse["largest"]["cost_low"], worse["largest"]["cost_high"]);
  report::Samples removed = suite(3, 3, [](int) { return 0.0; });
  for (report::Trial& trial : removed.trials)
    if (trial.levels[0] == 1) trial.values[2].reset();
  const auto open = nlohmann::json::parse(commands::run_gate(removed, kFacts)->json)["decision"];
  EXPECT_EQ(open["action"], "repeat");
  EXPECT_TRUE(open["settles_replicates"].is_null());
}

// A program that waits: its wall time says nothing yet, and its CPU time does.
TEST(Gate, CpuTimeIsToldAndDecidesNothing) {
  report::Samples samples = suite(0, 0, [](int) { return 0.0; });
  report::Response cpu = samples.responses[0];
  cpu.name = "cpu_time";
  cpu.declared = false;
  samples.responses.push_back(cpu);
  for (report::Trial& trial : samples.trials)
    trial.values.push_back(*trial.values[0] * (trial.workload == 1 && trial.levels[0] == 1 ? 1.2 : 1));
  const auto gate = commands::run_gate(samples, kFacts);
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->exit_code, 0);
  for (const std::string& text : {gate->text, gate->markdown}) {
    EXPECT_THAT(text, HasSubstr("CPU time decides nothing here, and it changed: tool +"));
    EXPECT_THAT(text, Not(HasSubstr("suite +")));
  }
  const nlohmann::json json = nlohmann::json::parse(gate->json);
  EXPECT_EQ(json["questions"].size(), 2u);
  ASSERT_EQ(json["cpu_time"].size(), 2u);
  EXPECT_NEAR(json["cpu_time"][1]["estimate"].get<double>(), 1.2, 0.02);
  EXPECT_EQ(json["cpu_time"][1]["workload"], "tool");
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/docs/reference/report-json.md");
  EXPECT_THAT((std::string{std::istreambuf_iterator<char>(file), {}}), HasSubstr("| `cpu_time[]` |"));
}

// Its page names every member, so that what is added is written down.
TEST(Gate, ItsPageHasAllMembers) {
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/docs/reference/report-json.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t start = text.find("## A gate\n");
  ASSERT_NE(start, std::string::npos);
  const std::string page = text.substr(start, text.find("\n## ", start + 1) - start);
  std::set<std::string> names;
  const std::function<void(const nlohmann::json&)> collect = [&](const nlohmann::json& json) {
    if (json.is_object())
      for (const auto& [name, item] : json.items()) {
        names.insert(name);
        collect(item);
      }
    else if (json.is_array())
      for (const auto& item : json) collect(item);
  };
  report::Samples removed = suite(3, 3, [](int) { return 0.0; });
  for (report::Trial& trial : removed.trials)
    if (trial.levels[0] == 1) trial.values[2].reset();
  report::Samples open = suite(3, 3, [](int) { return 0.0; });
  for (report::Response& response : open.responses) response.margin = 0.002;
  report::Samples slow = suite(3, 3, [](int) { return 0.0; });
  for (report::Trial& trial : slow.trials)
    if (trial.workload == 1 && trial.levels[0] == 1) *trial.values[0] *= 1.2;
  for (const report::Samples& samples : {slow, removed, open})
    collect(nlohmann::json::parse(commands::run_gate(samples, kFacts)->json));
  collect(nlohmann::json::parse(commands::gate_without_answer(kFacts, "a build failed").json));
  EXPECT_GT(names.size(), 25u);
  for (const std::string& name : names)
    EXPECT_THAT(page, ::testing::AnyOf(HasSubstr("`" + name + "`"), HasSubstr("`" + name + "[]`")));
}

// Of 20 benchmarks one is declared and nothing tells: two questions hold the answer open, the other workload's among them.
TEST(Gate, ExploratoryOnesAreNotCountedAsOpen) {
  report::Samples samples = suite(20, 1, [](int) { return 0.0; });
  for (report::Response& response : samples.responses) response.margin = 1e-6;
  const auto gate = commands::run_gate(samples, kFacts);
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->exit_code, 3);
  EXPECT_THAT(gate->text, HasSubstr("unsure, 2 questions without an answer"));
}

// No number of replicates brings back what HEAD has removed.
TEST(Gate, WhatIsRemovedIsNamed) {
  report::Samples samples = suite(3, 3, [](int) { return 0.0; });
  for (report::Trial& trial : samples.trials)
    if (trial.levels[0] == 1) trial.values[2].reset();
  const auto gate = commands::run_gate(samples, kFacts);
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->exit_code, 3);
  EXPECT_THAT(gate->text, HasSubstr("unsure, 1 question without an answer: b1, no cell with revision=head has values\n"));
  EXPECT_THAT(gate->text, Not(HasSubstr("more replicates")));
  EXPECT_THAT(gate->junit, HasSubstr("<skipped message=\"no answer: no cell with revision=head has values\"/>"));
}

TEST(Gate, WhatIsCutFromASummaryLeavesNothingFolded) {
  report::Samples samples = suite(200, 200, [](int) { return 0.0; });
  for (size_t i = 1; i < samples.responses.size(); ++i) samples.responses[i].name += std::string(150, '<');
  const auto gate = commands::run_gate(samples, kFacts);
  ASSERT_TRUE(gate.ok());
  EXPECT_THAT(gate->markdown, HasSubstr("(cut: the rest is too long)"));
  EXPECT_LE(gate->markdown.size(), 60'000u);
  const auto count_of = [&](const std::string& word) {
    size_t count = 0;
    for (size_t at = 0; (at = gate->markdown.find(word, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_GT(count_of("<details>"), 0u);
  EXPECT_EQ(count_of("<details>"), count_of("</details>"));
}

// A suite chooses its number of iterations, so its time is never settled: it keeps no gate from its end.
TEST(Gate, TheTimeOfASuiteHoldsNoLookUpWhereItsBenchmarksAreDeclared) {
  const auto outcome = [](int declared, bool until_worse) {
    report::Samples samples = suite(3, declared, [](int) { return 0.0; }, 1, 20);
    Rng rng = Rng::stream(2, "iterations");
    for (report::Trial& trial : samples.trials)
      if (trial.workload == 0) trial.values[0] = std::exp(standard_normal(rng));
    samples.stopping.rule = report::StoppingRule::kLooks;
    samples.stopping.looks = {12, 20};
    samples.stopping.until_worse = until_worse;
    const auto found = report::look(samples, 12);
    EXPECT_TRUE(found.ok());
    return *found;
  };
  EXPECT_TRUE(outcome(3, true).stop) << outcome(3, true).text;
  EXPECT_FALSE(outcome(3, false).stop) << "a plan that asks for all of its responses waits for them";
  EXPECT_FALSE(outcome(0, true).stop) << "nothing else is declared";
}

// A row has seven cells whatever the benchmark's name has in it, and a summary that becomes a comment calls nobody.
TEST(Gate, NamesAreNoMarkdown) {
  report::Samples samples = suite(4, 4, [](int i) { return i == 0 ? 0.3 : 0.0; });
  samples.responses[1].name = "worst\\| **0 %** | @team/all a@b [x](http://y)";
  samples.responses[2].name = "a|b\\";
  samples.responses[3].name = "`a` ~b~ _c_";
  samples.responses[4].name = "BM_Find_8";
  const auto gate = commands::run_gate(samples, kFacts);
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->exit_code, 1);
  constexpr char kWorst[] = "worst\\\\\\| \\*\\*0 %\\*\\* \\| @&#8203;team/all a@b [x\\](http://y)";
  EXPECT_THAT(gate->markdown, HasSubstr("worse: 1 regression, the largest " + std::string(kWorst) + " +"));
  EXPECT_THAT(gate->markdown, HasSubstr("\n| " + std::string(kWorst) + " | 998.2 ns | 1.355 us | +"));
  EXPECT_THAT(gate->markdown, HasSubstr("\n| a\\|b\\\\ | "));
  EXPECT_THAT(gate->markdown, HasSubstr("\n| \\`a\\` \\~b\\~ \\_c\\_ | "));
  EXPECT_THAT(gate->markdown, HasSubstr("\n| BM_Find_8 | "));
}

TEST(Gate, WhatABuildHasPrintedIsShownAsItIs) {
  std::string log = "build 'work revision=head' failed:\nwork.c:3:1: error: expected '}'\n\n<b>*x*\n";
  const commands::GateOutput gate = commands::gate_without_answer(kFacts, log);
  EXPECT_THAT(gate.markdown, HasSubstr("bbbb against aaaa: no answer, build 'work revision=head' failed:\n\n"
                                       "    work.c:3:1: error: expected '}'\n    \n    <b>*x*\n"));
  for (int i = 0; i < 20'000; ++i) log += "line\n";
  const std::string cut = commands::gate_without_answer(kFacts, log + "the last\n").markdown;
  EXPECT_THAT(cut, HasSubstr("failed:\n\n    (the beginning is left out)\n    line\n"));
  EXPECT_TRUE(cut.ends_with("    line\n    the last\n"));
  EXPECT_LE(cut.size(), 60'000u);
  EXPECT_GT(cut.size(), 59'000u);
  EXPECT_LE(commands::gate_without_answer(kFacts, "failed:\n" + std::string(100'000, 'x')).markdown.size(), 60'000u);
  const commands::GateOutput early = commands::gate_without_answer({}, "'x' is no range of revisions");
  EXPECT_THAT(early.markdown, HasSubstr("\n\nno answer, 'x' is no range of revisions\n"));
}

// Of a throughput less is worse: in the exit status, in what is named first, and in JUnit.
TEST(Gate, OfAThroughputLessIsWorse) {
  for (const double effect : {-0.3, 0.3}) {
    report::Samples samples = suite(2, 2, [&](int i) { return i == 1 ? effect : 0.0; });
    samples.responses[2].higher_is_better = true;
    const auto gate = commands::run_gate(samples, kFacts);
    ASSERT_TRUE(gate.ok());
    EXPECT_EQ(gate->exit_code, effect < 0 ? 1 : 0) << gate->text;
    EXPECT_EQ(gate->junit.find("<failure message=\"worse: -") != std::string::npos, effect < 0) << gate->junit;
    EXPECT_THAT(gate->text, HasSubstr(effect < 0 ? "worse: 1 regression, the largest b1 -" : "no regression beyond 5 %"));
  }
}

// A compiler quotes the line that it fails at, whatever encoding that has.
TEST(Gate, WhatIsWrittenIsText) {
  std::string log = "build failed: caf\xe9\x01\xef\xbf\xbe ";
  for (int i = 0; i < 20'000; ++i) log += "\xc3\xa9<\"\xe9 ";
  const commands::GateOutput gate = commands::gate_without_answer(kFacts, log);
  EXPECT_EQ(text::valid_text(gate.junit), gate.junit);
  EXPECT_THAT(gate.junit, Not(HasSubstr("\xef\xbf\xbe")));
  EXPECT_THAT(gate.junit, HasSubstr("message=\"build failed: caf\xef\xbf\xbd   \xc3\xa9&lt;"));
  EXPECT_EQ(text::valid_text(gate.markdown), gate.markdown);
  EXPECT_LE(gate.markdown.size(), 60'000u);
  EXPECT_GT(gate.markdown.size(), 59'000u);
  EXPECT_TRUE(gate.markdown.ends_with("\xc3\xa9&lt;\"\xef\xbf\xbd\n")) << gate.markdown.substr(gate.markdown.size() - 40);
  report::Samples samples = suite(1, 1, [](int) { return 0.0; });
  samples.responses[1].name = "caf\xe9";
  const auto judged = commands::run_gate(samples, kFacts);
  ASSERT_TRUE(judged.ok());
  EXPECT_EQ(text::valid_text(judged->junit), judged->junit);
  EXPECT_EQ(text::valid_text(judged->markdown), judged->markdown);
}

TEST(Gate, NamesAreNoMarkupAndSummariesFitACommentAlways) {
  report::Samples samples = suite(600, 600, [](int) { return 0.3; });
  for (size_t i = 1; i < samples.responses.size(); ++i)
    samples.responses[i].name = "<b>|" + std::string(150, 'x') + std::to_string(i) + "\"&";
  const auto gate = commands::run_gate(samples, kFacts);
  ASSERT_TRUE(gate.ok());
  EXPECT_LE(gate->markdown.size(), 60'000u);
  EXPECT_THAT(gate->markdown, Not(HasSubstr("<b>")));
  EXPECT_THAT(gate->markdown, HasSubstr("| &lt;b>\\|xxx"));
  EXPECT_THAT(gate->junit, Not(HasSubstr("<b>")));
  EXPECT_TRUE(gate->markdown.starts_with("<!-- stab-gate -->\n"));
  EXPECT_THAT(commands::gate_without_answer(kFacts, "<script>\n").markdown, Not(HasSubstr("<script>")));
}

}  // namespace
}  // namespace stab::analysis
