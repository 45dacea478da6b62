// What a gate makes of places: its exit status, sentence and JSON for each rule and each answer of `explain`.
#include "analysis/commands/gate/gate_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/commands/gate/gate.h"
#include "base/rng.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_layouts.h"

namespace stab::commands {
namespace {

using report::Worse;
using statistics::CauseVerdict;
using statistics::EffectState;
using ::testing::HasSubstr;
using ::testing::Not;

GatePlace placed(EffectState state, double effect, const std::string& workload = "work") {
  GatePlace out{.workload = workload, .explanation = {}};
  out.explanation.old_name = "aaaa";
  out.explanation.new_name = "bbbb";
  statistics::CauseAnswer answer;
  answer.verdict = state == EffectState::kThere  ? CauseVerdict::kPlace
                   : state == EffectState::kOpen ? CauseVerdict::kUnresolved
                                                 : CauseVerdict::kNothing;
  answer.plain = answer.place = {effect, effect - 0.01, effect + 0.01, 0.02, state};
  answer.code = {0, -0.001, 0.001, 0.002, EffectState::kAbsent};
  answer.blocks = 40;
  out.explanation.answer = answer;
  return out;
}

TEST(GatePlaces, OnlyAShownSlowdownIsWorse) {
  EXPECT_EQ(worse_by_place(placed(EffectState::kThere, 0.05).explanation), Worse::kYes);
  EXPECT_EQ(worse_by_place(placed(EffectState::kThere, -0.05).explanation), Worse::kNo) << "faster";
  EXPECT_EQ(worse_by_place(placed(EffectState::kSmall, 0.012).explanation), Worse::kNo) << "within the margin";
  EXPECT_EQ(worse_by_place(placed(EffectState::kAbsent, 0).explanation), Worse::kNo);
  EXPECT_EQ(worse_by_place(placed(EffectState::kOpen, 0.005).explanation), Worse::kUnsure);
  EXPECT_EQ(worse_by_place(Explanation()), Worse::kUnsure) << "no answer";
  GatePlace small = placed(EffectState::kThere, 0.015);
  small.explanation.answer->verdict = CauseVerdict::kNothing;
  EXPECT_EQ(worse_by_place(small.explanation), Worse::kNo) << "what one sees is shown to be within the margin";
}

TEST(GatePlaces, TheRuleDecidesWhereTheCodeIsNotWorse) {
  const auto whole = [](Worse code, PlaceRule rule, EffectState state, double effect) {
    return with_places(code, {rule, {placed(EffectState::kAbsent, 0), placed(state, effect)}});
  };
  const EffectState there = EffectState::kThere, open = EffectState::kOpen, absent = EffectState::kAbsent;
  EXPECT_EQ(whole(Worse::kNo, PlaceRule::kPass, there, 0.05), Worse::kNo);
  EXPECT_EQ(whole(Worse::kNo, PlaceRule::kUnsure, there, 0.05), Worse::kUnsure);
  EXPECT_EQ(whole(Worse::kNo, PlaceRule::kFail, there, 0.05), Worse::kYes);
  EXPECT_EQ(whole(Worse::kUnsure, PlaceRule::kFail, there, 0.05), Worse::kYes);
  EXPECT_EQ(whole(Worse::kNo, PlaceRule::kFail, there, -0.05), Worse::kNo);
  EXPECT_EQ(whole(Worse::kNo, PlaceRule::kFail, open, 0), Worse::kUnsure) << "not shown to be fine";
  EXPECT_EQ(whole(Worse::kNo, PlaceRule::kPass, open, 0), Worse::kNo);
  EXPECT_EQ(whole(Worse::kNo, PlaceRule::kFail, absent, 0), Worse::kNo);
  EXPECT_EQ(whole(Worse::kYes, PlaceRule::kPass, absent, 0), Worse::kYes);
  EXPECT_EQ(with_places(Worse::kNo, {PlaceRule::kFail, {}}), Worse::kNo) << "explain takes no workload";
}

// As of main...HEAD on main: no run of it could show a difference, and none is needed.
TEST(GatePlaces, OneBuildOfBothSidesIsNotWorse) {
  GatePlace one{.workload = "work", .explanation = {}};
  one.explanation.is_one_build = true;
  one.explanation.not_answered = "both sides are one build, so neither their code nor its place differs";
  EXPECT_EQ(worse_by_place(one.explanation), Worse::kNo);
  EXPECT_EQ(with_places(Worse::kNo, {PlaceRule::kFail, {one}}), Worse::kNo);
  EXPECT_THAT(place_text(one), HasSubstr("place of work: nothing: both sides are one build"));
}

// Two revisions whose ratios scatter by half a percent.
report::Samples samples_of(double slower) {
  report::Samples samples;
  samples.factors = {{"code", {"shuffle"}, true, 0}, {kGateFactor, {kGateBase, kGateHead}, false, 0}};
  samples.responses = {{.name = "cpu_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.02}};
  samples.workloads = {"work"};
  Rng rng = Rng::stream(43, "gate places");
  for (uint32_t block = 0; block < 20; ++block)
    for (uint16_t level = 0; level < 2; ++level) {
      report::Trial trial;
      trial.levels = {0, level};
      trial.block = block;
      trial.order = 2 * block + level;
      trial.seed = rng.next();
      trial.values = {std::exp(0.0035 * analysis::standard_normal(rng) + level * std::log1p(slower))};
      samples.trials.push_back(std::move(trial));
    }
  return analysis::with_layouts(std::move(samples));
}

GateOutput gate_of(double slower, std::optional<GatePlaces> places) {
  GateFacts facts{.base = "aaaa", .head = "bbbb", .command = "stabctl gate aaaa..bbbb", .unfinished = {}};
  facts.places = std::move(places);
  const auto gate = run_gate(samples_of(slower), facts);
  EXPECT_TRUE(gate.ok()) << (gate ? "" : gate.error().message);
  return gate ? *gate : GateOutput();
}

// The sentence has the reason whole, the table its beginning, and the caveat what to write.
TEST(GateSides, OneLayoutEachIsSaidBriefly) {
  report::Samples samples = samples_of(0);
  samples.factors[0] = {"code", {"off"}, true, 0, {true}};
  for (report::Trial& trial : samples.trials) trial.fixed_code = true, trial.layout = trial.levels[1];
  const auto gate = run_gate(samples, {.base = "aaaa", .head = "bbbb", .command = "stabctl gate aaaa..bbbb", .unfinished = {}});
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->exit_code, 3);
  EXPECT_THAT(gate->text, HasSubstr("about = \"binaries\" asks about the two as they are linked\n"));
  EXPECT_THAT(gate->text, HasSubstr("no answer: one layout a side: the difference may be link-order bias\n"));
  EXPECT_THAT(gate->markdown, HasSubstr("below [gate] write about = \"binaries\""));
}

TEST(GateSides, WhatTheyDoOtherwiseIsSaidEverywhere) {
  GateFacts facts{.base = "aaaa", .head = "bbbb", .command = "stabctl gate aaaa..bbbb", .unfinished = {}};
  facts.differ["work"] = {
      .outputs = "nothing against 1 byte (SHA-256 4355a46b...)", .ends = "0 against 4", .same_file = true};
  const auto gate = run_gate(samples_of(0), facts);
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->exit_code, 0) << "the verdict stays";
  EXPECT_THAT(gate->text,
              HasSubstr("\nthe two sides of work print something else, nothing against 1 byte (SHA-256 4355a46b...);"));
  for (const std::string* text : {&gate->text, &gate->markdown})
    EXPECT_THAT(*text,
                HasSubstr("\nthe two sides of work end with different exit statuses, 0 against 4; times compare programs"));
  const auto differ = nlohmann::json::parse(gate->json)["sides_differ"][0];
  EXPECT_EQ(differ["workload"], "work");
  EXPECT_EQ(differ["outputs_differ"], "nothing against 1 byte (SHA-256 4355a46b...)");
  EXPECT_EQ(differ["exits_differ"], "0 against 4");
  EXPECT_EQ(differ["same_file"], true);
  EXPECT_THAT(gate->text, HasSubstr("\nthe two sides of work run the same file, byte for byte; if what it reads"));
}

TEST(GatePlaces, AFailingPlaceIsTheAnswerEverywhere) {
  const GateOutput gate = gate_of(0, GatePlaces{PlaceRule::kFail, {placed(EffectState::kThere, std::log(1.06))}});
  EXPECT_EQ(gate.exit_code, 1);
  for (const std::string* text : {&gate.text, &gate.markdown}) {
    EXPECT_THAT(*text, HasSubstr("bbbb against aaaa: worse, by its place and not by its code: work +6.00 %; code: no regr"));
    EXPECT_THAT(*text, HasSubstr("place of work: place: bbbb is 6.00 % slower than aaaa where its functions lie now"));
  }
  EXPECT_THAT(gate.junit, HasSubstr("tests=\"2\" failures=\"1\""));
  const auto json = nlohmann::json::parse(gate.json);
  EXPECT_EQ(json["answer"], "worse");
  EXPECT_EQ(json["decision"]["action"], "reject");
  EXPECT_EQ(json["decision"]["exit_status"], 1);
  EXPECT_EQ(json["decision"]["error_rate"], 0.025);
  EXPECT_EQ(json["decision"]["largest"]["response"], "place");
  EXPECT_NEAR(json["decision"]["largest"]["cost"].get<double>(), 0.06, 1e-9);
  EXPECT_EQ(json["places"]["rule"], "fail");
  EXPECT_EQ(json["places"]["workloads"][0]["by_place"], "worse");
  EXPECT_EQ(json["places"]["workloads"][0]["explain"]["answer"], "place");
}

TEST(GatePlaces, TheCureIsSaidEverywhere) {
  GatePlace place = placed(EffectState::kThere, 0.06);
  FunctionSearch& search = place.explanation.search.emplace();
  search.functions = {{"scan", 0x1010, 0x2030, 64, 0.5}};
  search.answer.emplace().functions = {{0.06, 0.05, 0.07, 1e-9, true}};
  search.answer->of_found = 0.06;
  search.best = statistics::BestPlaces{{true}, {false}, {false}, {}, {-0.06, -0.07, -0.05}};
  search.cure = {"stabctl layout emit 17 --out work.layout", "work.layout", "stabctl layout verify work.layout"};
  const GateOutput gate = gate_of(0, GatePlaces{PlaceRule::kFail, {place}});
  EXPECT_THAT(gate.text, HasSubstr("so that bbbb becomes 5.82 % faster"));
  EXPECT_THAT(gate.markdown, HasSubstr("layout emit 17 --out work.layout, then szc --stab-layout=work.layout, then stabctl"));
  EXPECT_THAT(gate.markdown, HasSubstr("so that bbbb becomes 5.82 % faster [-6.76, -4.88] %, and aaaa has it there already"));
  EXPECT_EQ(nlohmann::json::parse(gate.json)["places"]["workloads"][0]["explain"]["cure"][0]["function"], "scan");
  place.explanation.search->cure.must_ask_again = true;
  place.explanation.command = "stabctl explain aaaa..bbbb";
  EXPECT_THAT(place_text(place), HasSubstr("stabctl explain aaaa..bbbb finds it again, and says how to keep it"));
}

// Its functions are named by the symbols of whoever wrote the pull request.
TEST(GatePlaces, AFunctionsNameDrivesNoTerminal) {
  GatePlace place = placed(EffectState::kThere, 0.06);
  statistics::PlaceAnswer found;
  found.cause = statistics::PlaceCause::kFunction;
  found.functions = {{0.06, 0.05, 0.07, 1e-9, true}};
  found.of_found = 0.06;
  place.explanation.search.emplace();
  place.explanation.search->functions = {{"evil\x1b[2J\nok", 0x1000, 0x2000, 64, 0.5}};
  place.explanation.search->answer = found;
  EXPECT_THAT(place_text(place), HasSubstr("by the place of 'evil"));
  const GateOutput gate = gate_of(0, GatePlaces{PlaceRule::kFail, {place}});
  for (const std::string* text : {&gate.text, &gate.markdown, &gate.junit}) {
    EXPECT_THAT(*text, HasSubstr("evil"));
    EXPECT_THAT(*text, Not(HasSubstr("\x1b")));
  }
}

TEST(GatePlaces, OtherwiseTheCodeIsTheAnswer) {
  const GateOutput told = gate_of(0, GatePlaces{PlaceRule::kPass, {placed(EffectState::kThere, 0.06)}});
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_THAT(told.text, HasSubstr("bbbb against aaaa: no regression beyond 2 %"));
  EXPECT_THAT(told.text, HasSubstr("place of work: place: "));
  EXPECT_THAT(told.junit, HasSubstr("tests=\"2\" failures=\"0\""));
  const GateOutput both = gate_of(0.05, GatePlaces{PlaceRule::kFail, {placed(EffectState::kThere, 0.06)}});
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.text, HasSubstr("worse: 1 regression, the largest work"));
  EXPECT_EQ(nlohmann::json::parse(both.json)["decision"]["largest"]["response"], "cpu_time");
  GatePlace none{.workload = "work", .explanation = {}};
  none.explanation.not_answered = "the build failed";
  const GateOutput open = gate_of(0, GatePlaces{PlaceRule::kUnsure, {none}});
  EXPECT_EQ(open.exit_code, 3);
  EXPECT_THAT(open.text, HasSubstr("unsure, what its place adds is open; code: no regression"));
  EXPECT_THAT(open.text, HasSubstr("place of work: no answer, the build failed"));
  EXPECT_EQ(nlohmann::json::parse(open.json)["decision"]["action"], "repeat");
  const GateOutput unasked = gate_of(0, std::nullopt);
  EXPECT_THAT(unasked.text, Not(HasSubstr("place of")));
  EXPECT_FALSE(nlohmann::json::parse(unasked.json).contains("places"));
}

}  // namespace
}  // namespace stab::commands
