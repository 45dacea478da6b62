// A gate that knows other sessions: its widened interval, its stream, and what its JSON says of both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/commands/gate/gate.h"
#include "analysis/commands/gate/nightly.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "base/rng.h"
#include "tests/places.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_layouts.h"

namespace stab::analysis {
namespace {

using namespace commands;
using ::testing::HasSubstr;
using ::testing::Not;
using nlohmann::json;

// Blocks whose ratios scatter by 0.5 %; the head of the first program is slower by `slower`.
report::Samples samples_of(double slower, uint32_t programs = 1, uint32_t blocks = 20, bool higher_is_better = false) {
  report::Samples samples;
  samples.factors = {{"code", {"shuffle"}, true, 0}, {kGateFactor, {kGateBase, kGateHead}, false, 0}};
  samples.responses = {{.name = "cpu_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.02}};
  samples.responses[0].higher_is_better = higher_is_better;
  samples.stopping.rule = report::StoppingRule::kLooks;
  samples.stopping.looks = {10, 20};
  samples.stopping.until_worse = true;
  Rng rng = Rng::stream(41, "gate sessions");
  for (uint32_t program = 0; program < programs; ++program) {
    samples.workloads.push_back("program" + std::to_string(program));
    for (uint32_t block = 0; block < blocks; ++block)
      for (uint16_t level = 0; level < 2; ++level) {
        report::Trial trial;
        trial.workload = program;
        trial.levels = {0, level};
        trial.block = block;
        trial.order = 2 * block + level;
        trial.seed = rng.next();
        trial.values = {std::exp(0.0035 * standard_normal(rng) + (level > 0 && program == 0 ? std::log1p(slower) : 0))};
        samples.trials.push_back(std::move(trial));
      }
  }
  return with_layouts(std::move(samples));
}

std::vector<SessionFinding> controls(int sessions, double between, uint32_t programs = 1) {
  std::vector<SessionFinding> out;
  for (int i = 1; i <= sessions; ++i)
    for (uint32_t program = 0; program < programs; ++program)
      out.push_back({i, "program" + std::to_string(program), "cpu_time", {i % 2 == 0 ? between : -between, 0.001, 39}, 40});
  return out;
}

GateFacts facts_of(int sessions, double between, uint32_t programs = 1) {
  GateFacts facts{.base = "aaaa", .head = "bbbb", .command = "stabctl gate aaaa..bbbb", .unfinished = {}};
  facts.sessions = {controls(sessions, between, programs), "stabctl selftest --nightly"};
  return facts;
}

GateOutput gate(const report::Samples& samples, const GateFacts& facts) {
  auto out = run_gate(samples, facts);
  EXPECT_TRUE(out) << out.error().message;
  return out ? *std::move(out) : GateOutput();
}

// Without its line breaks.
std::string unwrapped(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (const char one = c == '\n' ? ' ' : c; one != ' ' || !out.ends_with(' ')) out += one;
  return out;
}

json question(const GateOutput& output) { return json::parse(output.json)["questions"][0]; }

TEST(GateSessions, FewSessionsChangeNothingAndAreSaid) {
  const GateOutput alone =
      gate(samples_of(0.02), GateFacts{.base = "aaaa", .head = "bbbb", .command = "stabctl gate aaaa..bbbb", .unfinished = {}});
  const GateOutput few = gate(samples_of(0.02), facts_of(4, 0.03));
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_EQ(question(few)["conf_low"], question(alone)["conf_low"]);
  EXPECT_EQ(question(few)["between_sessions"]["in_interval"], false);
  EXPECT_EQ(question(few)["between_sessions"]["sessions"], 4);
  EXPECT_THAT(unwrapped(few.text), HasSubstr("is not in the interval"));
  EXPECT_THAT(unwrapped(few.text), HasSubstr("4 are known: stabctl selftest --nightly"));
  EXPECT_THAT(few.markdown, HasSubstr("is not in the interval"));
  GateFacts other = facts_of(4, 0.03);
  for (SessionFinding& one : other.sessions.controls) one.response = "max_rss";
  const std::string response = question(few)["response"];
  EXPECT_THAT(unwrapped(gate(samples_of(0.02), other).text),
              HasSubstr("0 are known of " + response +
                        " (and 4 of max_rss: 'response' below [gate] keeps to one): stabctl selftest --nightly"));
  EXPECT_FALSE(question(alone).contains("between_sessions"));
  EXPECT_THAT(alone.text, Not(HasSubstr("between sessions")));
}

// Of a margin of 2 %. In a run of 0.1 s each million of calls may cost up to 1 %.
TEST(GateCopies, OnlyWhatHoldsWhateverTheyCostIsAnAnswer) {
  const auto asked = [](double slower, double old_millions, double new_millions, const std::string& workload = "program0") {
    GateFacts facts = facts_of(0, 0);
    facts.copies[workload] =
        CopyFacts{.old_entries = old_millions * 1e6, .new_entries = new_millions * 1e6, .seconds = 0.1, .counts = true};
    return gate(samples_of(slower), facts);
  };
  EXPECT_EQ(asked(0.04, 1, 2).exit_code, 1);
  EXPECT_EQ(asked(0.04, 1, 9).exit_code, 3) << "the calls may be all of it";
  EXPECT_EQ(asked(0.04, 9, 1).exit_code, 1) << "they hide what is more than that";
  EXPECT_EQ(asked(0, 1, 9).exit_code, 0);
  EXPECT_EQ(asked(0, 9, 1).exit_code, 3) << "they may hide a regression";
  EXPECT_EQ(asked(0, 9, 1, "another").exit_code, 0) << "of another workload";
  const GateOutput said = asked(0, 9, 1);
  EXPECT_THAT(unwrapped(said.text), HasSubstr("program0: a run of each has 9000000 and 1000000 calls through pointers."));
  EXPECT_EQ(json::parse(said.json)["copies"][0]["old_pointer_calls"], 9e6);
  EXPECT_EQ(question(said)["answer"], "unsure");
}

TEST(GateCopies, ThatTheyWereNotCountedIsSaid) {
  GateFacts facts = facts_of(0, 0);
  facts.uncounted = "the time was over";
  const GateOutput said = gate(samples_of(0.04), facts);
  EXPECT_EQ(said.exit_code, 1);
  EXPECT_THAT(unwrapped(said.text), HasSubstr("were not counted, as the time was over: "));
  EXPECT_THAT(said.markdown, HasSubstr("were not counted, as the time was over: "));
  EXPECT_EQ(json::parse(said.json)["uncounted"], "the time was over");
}

// However many graver caveats there are.
TEST(GateCaveats, RunsThatFailedAreToldInEachForm) {
  report::Samples samples = samples_of(0.04);
  samples.repeated = 6;
  samples.repeated_cells = {"revision=head: 6"};
  samples.layout_outputs = {"program0: seed 7 gives 'a', off 'b'"};
  samples.lost_machines = {"one: 2 blocks"};
  samples.simulated = {"cachegrind"};
  samples.early_looks = {"by root"};
  const GateOutput said = gate(samples, facts_of(0, 0));
  for (const std::string& text : {unwrapped(said.text), said.markdown, said.json})
    EXPECT_THAT(text, HasSubstr("6 attempts failed and were run again (revision=head: 6)"));
  const std::vector<std::string> care = gate_questions(samples)->front().care;
  ASSERT_EQ(care.size(), 1u);
  EXPECT_THAT(care[0], HasSubstr("6 attempts failed and were run again (revision=head: 6)"));
}

// What a search for a commit asks: the bounds have what they may cost, and a reason stands where they leave it open.
TEST(GateCopies, AreABoundOfWhatACommitCosts) {
  const auto asked = [](double slower, double old_millions, double new_millions) {
    std::map<std::string, CopyFacts> copies;
    copies["program0"] =
        CopyFacts{.old_entries = old_millions * 1e6, .new_entries = new_millions * 1e6, .seconds = 0.1, .counts = true};
    return gate_questions(samples_of(slower), copies)->front();
  };
  const GateQuestion without = gate_questions(samples_of(0.04))->front(), more = asked(0.04, 1, 9), fewer = asked(0.04, 9, 1);
  EXPECT_EQ(without.answer, report::Worse::kYes);
  EXPECT_FALSE(without.by_copies);
  EXPECT_EQ(more.answer, report::Worse::kUnsure);
  EXPECT_TRUE(more.by_copies);
  EXPECT_THAT(more.refused, HasSubstr("1000000 and 9000000 calls through pointers"));
  EXPECT_NEAR((1 + more.cost_low) * 1.08, 1 + without.cost_low, 1e-3);
  EXPECT_EQ(more.cost_high, without.cost_high);
  EXPECT_EQ(fewer.answer, report::Worse::kYes);
  EXPECT_FALSE(fewer.by_copies);
  EXPECT_EQ(fewer.refused, "");
  EXPECT_EQ(fewer.cost_low, without.cost_low);
}

// A gate answers for its own programs; what a reader could do lies in stab-gate.toml.
TEST(GateCaveats, AreOfAGateAndNameItsOwnKeys) {
  report::Samples samples = samples_of(0.02, 2);
  samples.is_sliced = true;
  const report::Report report = *report::analyse(samples);
  const auto has = [&](report::CaveatCode code) {
    return std::any_of(report.caveats.begin(), report.caveats.end(), [&](const auto& caveat) { return caveat.code == code; });
  };
  ASSERT_TRUE(has(report::CaveatCode::kFewWorkloads));
  ASSERT_TRUE(has(report::CaveatCode::kSlicingUnchecked));
  const GateOutput out = gate(samples, facts_of(0, 0));
  for (const std::string& text : {unwrapped(out.text), out.markdown}) {
    EXPECT_THAT(text, Not(HasSubstr("others like them")));
    EXPECT_THAT(text, HasSubstr("no block ran alone"));
    EXPECT_THAT(text, HasSubstr("below [gate]"));
    EXPECT_THAT(text, Not(HasSubstr("[experiment]")));
  }
}

TEST(GateSessions, WhatChangesEachNightDecides) {
  // 2 % is far beyond the blocks' error, and within what nights differ by.
  const GateOutput loud = gate(samples_of(0.02), facts_of(10, 0.015));
  EXPECT_EQ(loud.exit_code, 3);
  const json one = question(loud);
  EXPECT_LT(one["conf_low"], 1);
  EXPECT_GT(one["within_session"]["conf_low"], 1);
  EXPECT_GT(one["p_value"], 0.05);
  EXPECT_LT(one["within_session"]["p_value"], 0.001);
  EXPECT_EQ(one["between_sessions"]["in_interval"], true);
  EXPECT_NEAR(one["between_sessions"]["sd"].get<double>(), 0.015, 0.001);
  EXPECT_THAT(unwrapped(loud.text), HasSubstr("which is in the interval; the blocks of program0 cpu_time alone say"));
  // No number of blocks answers that.
  EXPECT_TRUE(json::parse(loud.json)["decision"]["settles_replicates"].is_null());
  EXPECT_EQ(gate(samples_of(0.02), facts_of(30, 0.0005)).exit_code, 1);
  EXPECT_EQ(gate(samples_of(0.1), facts_of(10, 0.015)).exit_code, 1);
}

TEST(GateSessions, NotWorseNeedsThemToo) {
  EXPECT_EQ(gate(samples_of(0), facts_of(10, 0.001)).exit_code, 0);
  EXPECT_EQ(gate(samples_of(0), facts_of(10, 0.02)).exit_code, 3);
}

TEST(GateSessions, NothingBecomesNarrower) {
  for (const double between : {0.0, 0.001, 0.003, 0.01})
    for (const int sessions : {5, 8, 20, 100})
      for (const double slower : {-0.01, 0.0, 0.004, 0.02}) {
        const json one = question(gate(samples_of(slower), facts_of(sessions, between)));
        EXPECT_LE(one["conf_low"], one["within_session"]["conf_low"]);
        EXPECT_GE(one["conf_high"], one["within_session"]["conf_high"]);
        EXPECT_GE(one["p_value"], one["within_session"]["p_value"]);
        EXPECT_GE(one["p_adjusted"], one["p_value"]);
      }
}

// Two programs are a family: Holm's p of the widened ones.
TEST(GateSessions, SeveralQuestionsAreAdjusted) {
  const GateOutput two = gate(samples_of(0.02, 2), facts_of(20, 0.004, 2));
  const json one = question(two);
  EXPECT_EQ(one["workload"], "program0");
  EXPECT_NEAR(one["p_adjusted"].get<double>(), 2 * one["p_value"].get<double>(), 1e-9);
}

TEST(GateSessions, HigherIsBetterTurnsTheSign) {
  // A head with less of what is good is worse, and is kept as above 0.
  const GateOutput less = gate(samples_of(-0.03, 1, 20, true), facts_of(10, 0.002));
  EXPECT_EQ(less.exit_code, 1);
  ASSERT_EQ(less.findings.size(), 1u);
  EXPECT_NEAR(less.findings[0].found.difference, 0.03, 0.005);
  EXPECT_NEAR(gate(samples_of(0.03), facts_of(10, 0.002)).findings[0].found.difference, 0.03, 0.005);
}

GateStream stream_of(uint64_t number, uint64_t called_before) {
  GateStream stream;
  stream.name = "pull-requests";
  stream.number = number;
  stream.called_before = called_before;
  stream.session = 1000;
  return stream;
}

TEST(GateStreams, SayWorseByEvidence) {
  GateFacts facts = facts_of(30, 0.001);
  facts.stream = stream_of(3, 0);
  const GateOutput called = gate(samples_of(0.03), facts);
  EXPECT_EQ(called.exit_code, 1);
  EXPECT_TRUE(called.stream->called);
  const json said = json::parse(called.json);
  EXPECT_EQ(said["stream"]["called"], true);
  EXPECT_EQ(said["stream"]["number"], 3);
  EXPECT_GE(said["stream"]["log_e"], said["stream"]["log_e_needed"]);
  EXPECT_EQ(said["decision"]["error_rate"], 0.05);
  EXPECT_THAT(said["decision"]["error"].get<std::string>(), HasSubstr("called worse"));
}

TEST(GateStreams, SuspectWhatOneSessionAloneWouldCallWorse) {
  GateFacts facts = facts_of(10, 0.002);
  ASSERT_EQ(gate(samples_of(0.02), facts).exit_code, 1);
  facts.stream = stream_of(200, 0);
  const GateOutput suspected = gate(samples_of(0.02), facts);
  EXPECT_EQ(suspected.exit_code, 3);
  EXPECT_FALSE(suspected.stream->called);
  EXPECT_THAT(suspected.text, HasSubstr("a regression is suspected: program0"));
  EXPECT_THAT(suspected.junit, HasSubstr("failures=\"0\""));
  EXPECT_THAT(suspected.markdown, HasSubstr("suspected"));
  const json decision = json::parse(suspected.json)["decision"];
  EXPECT_EQ(decision["action"], "repeat");
  ASSERT_TRUE(decision["settles_sessions"].is_number());
  // That many more sessions which find the same are enough.
  GateStream stream = stream_of(200, 0);
  GateOutput last;
  for (int more = 0; more <= decision["settles_sessions"].get<int>() + 1; ++more) {
    facts.stream = stream;
    last = gate(samples_of(0.02), facts);
    for (SessionFinding one : last.findings) {
      one.session = stream.session;
      stream.earlier.push_back(one);
    }
    ++stream.session;
    if (last.stream->called) break;
  }
  EXPECT_TRUE(last.stream->called);
  EXPECT_EQ(last.exit_code, 1);
}

TEST(GateStreams, ACallStands) {
  GateFacts facts = facts_of(10, 0.002);
  facts.stream = stream_of(4, 1);
  facts.stream->called = true;
  const GateOutput now = gate(samples_of(0), facts);
  EXPECT_EQ(now.exit_code, 1);
  EXPECT_THAT(unwrapped(now.text), HasSubstr("called worse by an earlier session, which stands"));
  EXPECT_THAT(now.text, HasSubstr("worse: 1 regression, the largest program0"));
}

// 1 % is shown, and so is that it is less than the margin: alone the gate lets it pass, and so does the stream.
TEST(GateStreams, LetPassWhatIsBelowTheMargin) {
  GateFacts facts = facts_of(100, 0.0);
  ASSERT_EQ(gate(samples_of(0.01), facts).exit_code, 0);
  facts.stream = stream_of(1, 1000);
  const GateOutput small = gate(samples_of(0.01), facts);
  EXPECT_GT(small.stream->log_e, small.stream->log_needed);
  EXPECT_FALSE(small.stream->called);
  EXPECT_EQ(small.exit_code, 0);
}

TEST(GateStreams, TheSameSessionTwiceIsOne) {
  GateFacts facts = facts_of(30, 0.001);
  facts.stream = stream_of(1, 0);
  const GateOutput once = gate(samples_of(0.02), facts);
  facts.stream->earlier = once.findings;
  for (SessionFinding& one : facts.stream->earlier) one.session = facts.stream->session;
  const GateOutput again = gate(samples_of(0.02), facts);
  EXPECT_EQ(again.stream->sessions, 1u);
  for (SessionFinding& one : facts.stream->earlier) one.session = facts.stream->session - 1;
  const GateOutput another = gate(samples_of(0.02), facts);
  EXPECT_EQ(another.stream->sessions, 2u);
  EXPECT_GT(another.stream->log_e, again.stream->log_e + 1);
  // A control of a session in which the pair was gated is none.
  GateFacts shared = facts_of(30, 0.001);
  shared.stream = stream_of(1, 0);
  shared.stream->session = 1;
  GateFacts without = facts_of(30, 0.001);
  without.sessions.controls.erase(without.sessions.controls.begin());
  without.stream = stream_of(1, 0);
  EXPECT_EQ(gate(samples_of(0.02), shared).stream->log_e, gate(samples_of(0.02), without).stream->log_e);
}

TEST(GateStreams, WithoutControlsNothingIsCalled) {
  GateFacts facts = facts_of(0, 0);
  facts.stream = stream_of(1, 0);
  EXPECT_EQ(gate(samples_of(0.2), facts).exit_code, 3);
}

// What docs/reference/report-json.md names is there, and what is there is named.
TEST(GateJson, MembersAreThoseOfTheReference) {
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/docs/reference/report-json.md");
  std::string page((std::istreambuf_iterator<char>(file)), {});
  page = page.substr(page.find("\n## A gate\n"));
  page = page.substr(0, page.find("\n## ", 4));
  GateFacts facts = facts_of(10, 0.002);
  facts.stream = stream_of(200, 0);
  facts.cause_commands["program0"] = "stabctl explain aaaa..bbbb";
  std::set<std::string> seen;
  const std::function<void(const json&)> collect = [&](const json& value) {
    if (value.is_array()) for (const json& one : value) collect(one);
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
      seen.insert(key);
      collect(member);
    }
  };
  for (const double slower : {0.0, 0.02, 0.05}) collect(json::parse(gate(samples_of(slower), facts).json));
  collect(json::parse(gate_without_answer(facts, "a reason").json));
  EXPECT_EQ(json::parse(gate(samples_of(0), facts).json)["version"], 1);
  for (const std::string& key : seen)
    EXPECT_TRUE(page.find("`" + key + "`") != std::string::npos || page.find("`" + key + "[]`") != std::string::npos)
        << key << " is not documented";
  for (const char* key : {"action", "error_rate", "error", "largest", "cost", "cause_command", "seconds", "settles_replicates",
                          "settles_sessions", "within_session", "between_sessions", "stream"})
    EXPECT_TRUE(seen.contains(key)) << key;
}

TEST(Nightly, SaysHowManySessionsAreMissing) {
  NightlyFacts facts{"2026-11-26", "lab", "gates.logbook", {}, controls(1, 0.002), false};
  facts.today = {facts.controls[0]};
  const CommandOutput one = run_nightly(facts);
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_THAT(one.out, HasSubstr("unknown"));
  EXPECT_THAT(one.out, HasSubstr("from 5 sessions on; 4 more are needed"));
  facts.controls = controls(4, 0.002);
  EXPECT_THAT(run_nightly(facts).out, HasSubstr("1 more is needed"));
  facts.controls = controls(10, 0.004);
  const CommandOutput ten = run_nightly(facts);
  EXPECT_THAT(ten.out, HasSubstr("becomes +-"));
  EXPECT_THAT(ten.out, Not(HasSubstr("needed")));
  facts.json = true;
  const json said = json::parse(run_nightly(facts).out);
  EXPECT_EQ(said["format"], "stab-nightly");
  EXPECT_EQ(said["questions"][0]["sessions"], 10);
  EXPECT_NEAR(said["questions"][0]["sd"].get<double>(), 0.004, 0.0005);
  EXPECT_GT(said["questions"][0]["widened_half_width"], said["questions"][0]["half_width"]);
}

}  // namespace
}  // namespace stab::analysis
