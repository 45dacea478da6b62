// What a search says of the places of its ends, in each of its forms, by answers of explain that are made here.
#include "analysis/commands/bisect/bisect_place.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/commands/bisect/bisect.h"
#include "analysis/page/bisect_page.h"

namespace stab::analysis {
namespace {

using commands::Bisection;
using commands::BisectEnd;
using commands::BisectPlace;
using commands::CommitFinding;
using statistics::CauseVerdict;
using statistics::EffectState;

// The place of `wide` makes 8 % to 12 %, and the code nothing.
commands::GatePlace slower_place() {
  commands::GatePlace out;
  out.workload = "work";
  commands::Explanation& all = out.explanation;
  all.old_name = "0123456789ab", all.new_name = "fedcba987654", all.command = "stabctl explain 0123456789ab..fedcba987654";
  statistics::CauseAnswer answer;
  answer.verdict = CauseVerdict::kPlace;
  answer.plain = {std::log(1.10), std::log(1.09), std::log(1.11), 0.01, EffectState::kThere};
  answer.code = {0.0, std::log(0.999), std::log(1.001), 0.01, EffectState::kAbsent};
  answer.place = {std::log(1.10), std::log(1.08), std::log(1.12), 0.01, EffectState::kThere};
  answer.blocks = 20, answer.confidence = 0.975;
  all.answer = answer;
  all.care = {"the machine was busy"};
  statistics::PlaceAnswer places;
  places.cause = statistics::PlaceCause::kFunction;
  places.functions = {{std::log(1.09), std::log(1.08), std::log(1.10), 0.001, true}, {0, -0.01, 0.01, 1, false}};
  places.of_found = std::log(1.09);
  all.search.emplace();
  all.search->answer = places;
  all.search->functions = {{"wide", 0x10, 0x20, 64, 0.5}, {"other", 0x40, 0x80, 64, 0.1}};
  return out;
}

// A search whose ends don't differ by 2 %.
Bisection nothing_found(bool faster = false) {
  Bisection search;
  search.alpha = 0.05;
  search.margin = 0.02;
  search.faster = faster;
  search.commits = {{"0123456789abcdef", "good"}, {"fedcba9876543210", "bad"}};
  search.end = BisectEnd::kNone;
  commands::BisectStep step;
  step.position = 1;
  step.finding = step.taken = CommitFinding::kNotSlower;
  step.change = "+0.10 %", step.interval = "[-0.50, +0.70] %";
  search.steps = {step};
  return search;
}

CommitFinding found(const commands::GatePlace& place, bool faster = false) {
  return commands::bisect_place_of(place, faster).finding;
}

TEST(BisectPlace, APlaceIsTheAnswerInEachForm) {
  Bisection search = nothing_found();
  commands::add_places(search, {commands::bisect_place_of(slower_place(), false)});
  EXPECT_EQ(search.end, BisectEnd::kPlace);
  const commands::BisectOutput output = commands::bisect_output(search);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.sentence,
            "no culprit: place: over random layouts fedcba987654 is not slower than 0123456789ab by 2 %; as it is linked, the "
            "place of 'wide' makes it 10.00 % slower ([+8.00, +12.00] %)");
  EXPECT_NE(output.next.find("the next commit draws another one; how to keep it where it is fast: stabctl explain "
                             "0123456789ab..fedcba987654"),
            std::string::npos) << output.next;
  EXPECT_NE(output.error.find("a place that makes no difference is called slower in at most 2.5 % of explain's answers"),
            std::string::npos) << output.error;
  const std::string page = page::render_bisection(search);
  for (const std::string& form : {output.text, output.markdown, page}) {
    EXPECT_NE(form.find("no culprit: place: over random layouts fedcba987654"), std::string::npos) << form;
    EXPECT_NE(form.find("place of work: place: fedcba987654 is 10.00 % slower"), std::string::npos) << form;
    EXPECT_NE(form.find("care, place of work: the machine was busy"), std::string::npos) << form;
  }
  EXPECT_NE(page.find("<strong class=\"word-worse\">no culprit"), std::string::npos) << page;
  const auto json = nlohmann::json::parse(output.json);
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(json["answer"], "place");
  EXPECT_TRUE(json["slower"].is_null());
  EXPECT_EQ(json["places"]["asked"], true);
  const auto& workload = json["places"]["workloads"][0];
  EXPECT_EQ(workload["workload"], "work");
  EXPECT_EQ(workload["by_place"], "slower");
  EXPECT_EQ(workload["explain"]["answer"], "place");
  EXPECT_NEAR(workload["explain"]["place"]["low"], 0.08, 1e-9);
  EXPECT_EQ(workload["explain"]["functions"]["each"][0]["name"], "wide");
}

TEST(BisectPlace, WhatExplainKnowsDecides) {
  commands::GatePlace place = slower_place();
  EXPECT_EQ(found(place), CommitFinding::kSlower);
  EXPECT_EQ(found(place, true), CommitFinding::kNotSlower) << "what makes it slower makes it no faster";
  place.explanation.answer->place = {std::log(0.9), std::log(0.88), std::log(0.92), 0.01, EffectState::kThere};
  EXPECT_EQ(found(place), CommitFinding::kNotSlower);
  EXPECT_EQ(found(place, true), CommitFinding::kSlower);
  place.explanation.answer->verdict = CauseVerdict::kUnresolved;
  EXPECT_EQ(found(place, true), CommitFinding::kSlower) << "of the code the search itself has said enough";
  place.explanation.answer->place.state = EffectState::kOpen;
  EXPECT_EQ(found(place), CommitFinding::kUnsure);
  place.explanation.answer->place.state = EffectState::kSmall;
  EXPECT_EQ(found(place), CommitFinding::kNotSlower);

  commands::GatePlace same = slower_place();
  same.explanation.are_one_program = true;
  EXPECT_EQ(found(same), CommitFinding::kNotSlower) << "one program has one place";
  commands::GatePlace waiting = slower_place();
  waiting.explanation.alone.emplace();
  waiting.explanation.alone->new_waits = true;
  EXPECT_EQ(found(waiting), CommitFinding::kUnsure) << "it may wait longer, which CPU time doesn't see";
  commands::GatePlace unknown = slower_place();
  unknown.explanation.answer.reset();
  unknown.explanation.not_answered = "'work' was not built by szc";
  EXPECT_EQ(found(unknown), CommitFinding::kUnsure);
  EXPECT_EQ(commands::bisect_place_of(unknown, false).sentence, "no answer, 'work' was not built by szc");
  unknown.explanation.is_one_build = true;
  EXPECT_EQ(found(unknown), CommitFinding::kNotSlower);
}

TEST(BisectPlace, SaysWhatElseCameOfIt) {
  const auto said = [](Bisection search) {
    const commands::BisectOutput output = commands::bisect_output(search);
    EXPECT_EQ(output.exit_code, 1);
    EXPECT_EQ(nlohmann::json::parse(output.json)["answer"], "none");
    return output.sentence + "|" + output.next;
  };
  const std::string code = "no commit to find: fedcba987654 is not slower than 0123456789ab by 2 % over random layouts";
  Bisection search = nothing_found();
  const std::string either = "a difference that was seen in one pair of builds can be the place of the code, or the machine";
  EXPECT_EQ(said(search), code + "|" + either);
  search.no_places = "'work' of the gate's file is simulated";
  EXPECT_TRUE(said(search).ends_with("; 'stabctl explain' was not asked which: 'work' of the gate's file is simulated"));

  commands::GatePlace fast = slower_place();
  fast.explanation.answer->place.state = EffectState::kAbsent;
  search = nothing_found();
  commands::add_places(search, {commands::bisect_place_of(fast, false)});
  EXPECT_EQ(said(search), code + ", and neither is it by its place|a difference that was seen in one pair of builds can be the "
                                 "machine: compare the two again");
  commands::GatePlace open = slower_place();
  open.explanation.answer->place.state = EffectState::kOpen;
  open.explanation.unfinished = "the time of --at-most was over";
  search = nothing_found();
  const BisectPlace cut = commands::bisect_place_of(open, false);
  EXPECT_TRUE(cut.is_cut);
  commands::add_places(search, {commands::bisect_place_of(fast, false), cut});
  EXPECT_EQ(said(search), code + "; whether its place makes it slower is open|" + either +
                              "; ask again: stabctl explain 0123456789ab..fedcba987654");
  open.explanation.answer.reset();
  open.explanation.not_answered = "'work' was not built by szc";
  search = nothing_found();
  commands::add_places(search, {commands::bisect_place_of(open, false)});
  EXPECT_EQ(said(search), code + "; whether its place makes it slower is open|" + either);
  const std::string text = commands::bisect_output(search).text;
  EXPECT_NE(text.find("\nplace of work: no answer, 'work' was not built by szc\n"), std::string::npos) << text;
  search = nothing_found();
  search.steps[0].is_one_program = true;
  EXPECT_TRUE(said(search).ends_with("|both ends run one program, byte for byte: a difference that was seen between them is the "
                                     "machine's"));
}

// Of several workloads the one whose place costs most is named.
TEST(BisectPlace, NamesTheWorstWorkload) {
  commands::GatePlace other = slower_place();
  other.workload = "parser";
  other.explanation.answer->place = {std::log(1.2), std::log(1.15), std::log(1.25), 0.01, EffectState::kThere};
  other.explanation.search.reset();
  Bisection search = nothing_found();
  commands::add_places(search, {commands::bisect_place_of(slower_place(), false), commands::bisect_place_of(other, false)});
  const std::string sentence = commands::bisect_output(search).sentence;
  EXPECT_TRUE(sentence.ends_with("the place of its functions makes parser 20.00 % slower ([+15.00, +25.00] %)")) << sentence;
}

// What is kept of the probability is that no commit made it slower by the margin.
TEST(BisectPlace, HasTheProbabilityThatNoCommitDidIt) {
  Bisection search = nothing_found();
  search.probability = 0.9374;
  for (const bool is_place : {false, true}) {
    if (is_place) commands::add_places(search, {commands::bisect_place_of(slower_place(), false)});
    const commands::BisectOutput output = commands::bisect_output(search);
    EXPECT_NE(output.text.find("by the model no commit made it slower by 2 % with a probability of 93 %"), std::string::npos)
        << output.text;
    EXPECT_EQ(nlohmann::json::parse(output.json)["probability"], 0.9374);
  }
}

}  // namespace
}  // namespace stab::analysis
