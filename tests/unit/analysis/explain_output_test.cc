// What `stabctl explain` says where the place is known and the code is open. Whole runs: tests/e2e/explain_test, tests/explain.
#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "analysis/commands/explain/explain.h"
#include "analysis/commands/explain/explain_simulated.h"

namespace stab::commands {
namespace {

using statistics::EffectState;

Explanation open_code_and_known_place() {
  Explanation out;
  out.old_name = "old";
  out.new_name = "new";
  statistics::CauseAnswer answer;
  answer.verdict = statistics::CauseVerdict::kUnresolved;
  answer.code = {0.001, -0.009, 0.010, 0.03, EffectState::kOpen};
  answer.place = {0.14, 0.13, 0.16, 0.03, EffectState::kThere};
  answer.blocks = 640;
  answer.settles_at = 2488;
  out.answer = answer;
  out.seconds = 120;
  FunctionSearch search;
  search.sampled = true;
  search.functions = {{"quantum_toffoli", 0x5ea10, 0x5ef70, 249, 0.4}};
  statistics::PlaceAnswer places;
  places.cause = statistics::PlaceCause::kFunction;
  places.functions = {{0.14, 0.13, 0.15, 1e-9, true}};
  places.runs = 80;
  places.of_found = 0.14;
  search.answer = places;
  out.search = search;
  return out;
}

TEST(ExplainOutputTest, KnownPlaceHasItsFunctionThoughTheCodeIsOpen) {
  const ExplainOutput said = explain_output(open_code_and_known_place(), 200);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(
      said.text.starts_with("the place of 'quantum_toffoli' makes +15.03 %; whether the code matters, too, is unresolved: it "))
      << said.text;
  EXPECT_NE(said.text.find("blocks are too few to say"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("--margin asks for less; or count what both execute, without"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("the place of one function (the only one that was looked at, "), std::string::npos) << said.text;
}

// What blocks leave open of the code, the code itself says: it is the same.
TEST(ExplainOutputTest, AKnownPlaceOfTheSameCodeIsThePlace) {
  const auto same_code = [] {
    Explanation all = open_code_and_known_place();
    all.libraries.emplace();
    all.bodies = BodyFacts{.functions = 3, .new_alone = {"more"}, .changed_share = 0.001, .data = {{"front", 0, 16, 8, 8}}};
    return all;
  };
  const ExplainOutput said = explain_output(same_code(), 400);
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_TRUE(said.text.starts_with("place: new is ")) << said.text;
  EXPECT_NE(said.text.find("where its functions lie now, of which the place of 'quantum_toffoli' makes +15.03 %; what runs is "
                           "the same code\n"), std::string::npos) << said.text;
  EXPECT_EQ(said.text.find("blocks decide"), std::string::npos) << said.text;
  EXPECT_NE(said.json.find("\"answer\": \"place\""), std::string::npos) << said.json;
  const auto is_open_where = [&same_code](auto change) {
    Explanation all = same_code();
    change(all);
    return explain_output(all, 400).exit_code == 3;
  };
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.bodies->changed = {"work"}; }));
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.bodies->constants = {"work"}; }));
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.bodies->knows_constants = false; }));
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.bodies->data[0].is_other = true; }));
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.bodies->changed_share = 0.01; })) << "the new function runs";
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.bodies->changed_share.reset(); })) << "nobody knows whether it runs";
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.bodies->unmatched = 0.02; })) << "assembly may have changed";
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.libraries->rebuilt = 0.02; })) << "a library may have";
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.libraries->not_known = "they could not be sampled"; }));
  EXPECT_TRUE(is_open_where([](Explanation& all) { all.answer->code.estimate = 0.006; })) << "more than half the margin";
  Explanation open = same_code();
  open.answer->place.state = EffectState::kOpen;
  open.search.reset();
  const ExplainOutput unresolved = explain_output(open, 400);
  EXPECT_EQ(unresolved.exit_code, 3);
  EXPECT_TRUE(unresolved.text.starts_with("unresolved: what runs is the same code, and 640 blocks are too few to say what its "
                                          "place makes\n")) << unresolved.text;
  EXPECT_NE(unresolved.text.find("instructions differ in none of 3 functions"), std::string::npos) << unresolved.text;
  open.bodies->changed = {"work"};
  EXPECT_TRUE(explain_output(open, 400).text.starts_with("unresolved: 640 blocks are too few to decide\n"));
}

TEST(ExplainOutputTest, NothingIsTheCodeOrThePlaceOfOneProgram) {
  Explanation all = open_code_and_known_place();
  all.search.reset();
  all.are_one_program = true;
  using statistics::CauseVerdict;
  for (const auto verdict : {CauseVerdict::kUnresolved, CauseVerdict::kCode, CauseVerdict::kBoth, CauseVerdict::kPlace}) {
    all.answer->verdict = verdict;
    const ExplainOutput said = explain_output(all, 400);
    EXPECT_EQ(said.exit_code, 3);
    EXPECT_TRUE(said.text.starts_with("unresolved: old and new are one program, byte for byte: ")) << said.text;
    EXPECT_NE(said.json.find("\"answer\": \"unresolved\""), std::string::npos) << said.json;
  }
  all.answer->verdict = statistics::CauseVerdict::kNothing;
  EXPECT_EQ(explain_output(all, 400).exit_code, 0);
}

TEST(ExplainOutputTest, WhatCopiesMayCostIsTold) {
  Explanation all = open_code_and_known_place();
  all.copies = CopyFacts{.old_entries = 2e6, .new_entries = 12e6, .old_functions = 40, .new_functions = 40, .seconds = 0.2};
  const statistics::CopyPrice price = price_of(*all.copies);
  EXPECT_EQ(price.low, 0);
  EXPECT_NEAR(price.high, std::log1p(0.05), 1e-12) << "ten million calls of at most 1 ns in 0.2 s";
  EXPECT_EQ(explain_output(all, 300).text.find("calls through pointers"), std::string::npos) << "too small to matter";
  all.copies->counts = true;
  all.answer->place.state = EffectState::kOpen;
  const ExplainOutput said = explain_output(all, 300);
  EXPECT_TRUE(said.text.starts_with("unresolved: new is ")) << said.text;
  EXPECT_NE(said.text.find("a run of each has 2000000 and 12000000 calls through pointers. "), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("+0.00 to +5.00 % of the difference there"), std::string::npos) << said.text;
  EXPECT_EQ(said.text.find("too few"), std::string::npos) << "no number of blocks tells: " << said.text;
  EXPECT_NE(said.json.find("\"new_pointer_calls\": 12000000"), std::string::npos) << said.json;
}

TEST(ExplainOutputTest, WhatFailedAndWhatWasNotCountedIsTold) {
  Explanation all = open_code_and_known_place();
  all.care = {"3 attempts failed and were run again (build=new, code=once: 3); 'stabctl logs' says why"};
  all.uncounted = "it was interrupted";
  const ExplainOutput said = explain_output(all, 300);
  EXPECT_NE(said.text.find("care: 3 attempts failed and were run again (build=new, code=once: 3)"), std::string::npos)
      << said.text;
  EXPECT_NE(said.text.find("were not counted, as it was interrupted: "), std::string::npos) << said.text;
  EXPECT_NE(said.json.find("\"uncounted\": \"it was interrupted\""), std::string::npos) << said.json;
  EXPECT_NE(said.json.find("\"3 attempts failed"), std::string::npos) << said.json;
}

TEST(ExplainOutputTest, KnownCodeIsSaidThoughThePlaceIsOpen) {
  Explanation all = open_code_and_known_place();
  all.search.reset();
  all.answer->code = {0.01, 0.004, 0.016, 0.005, EffectState::kThere};
  all.answer->place = {0.002, -0.011, 0.015, 0.007, EffectState::kOpen};
  const std::string said = explain_output(all, 200).text;
  EXPECT_TRUE(said.starts_with("the code makes +1.01 %; whether its place matters, too, is unresolved: it makes -1.09 % to +1.5"))
      << said;
  all.answer->code.state = EffectState::kOpen;
  EXPECT_NE(explain_output(all, 200).text.find("blocks are too few to decide\n"), std::string::npos);
}

TEST(ExplainOutputTest, APlaceThatDoesNotMatterIsToldAndIsNoCause) {
  Explanation all = open_code_and_known_place();
  all.search.reset();
  all.answer->verdict = statistics::CauseVerdict::kNothing;
  all.answer->plain = {0.0055, 0.0035, 0.0075, 0.004, EffectState::kSmall};
  all.answer->code = {-0.0009, -0.004, 0.003, 0.005, EffectState::kAbsent};
  all.answer->place = {0.0064, 0.001, 0.012, 0.007, EffectState::kThere};
  const ExplainOutput said = explain_output(all, 200);
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_TRUE(said.text.starts_with("nothing that matters: as they are linked new is 0.55 % slower than old, less than 1.00 %; "
                                    "its place makes +0.64 %, and the code less than 0.5")) << said.text;
  all.answer->place.state = EffectState::kAbsent;
  EXPECT_TRUE(explain_output(all, 200).text.starts_with("nothing: neither the code nor the place")) << said.text;
}

Explanation known_code() {
  Explanation all = open_code_and_known_place();
  all.search.reset();
  all.answer->verdict = statistics::CauseVerdict::kCode;
  all.answer->code = {0.03, 0.02, 0.04, 0.005, EffectState::kThere};
  all.answer->place = {0.001, -0.002, 0.004, 0.004, EffectState::kAbsent};
  all.libraries.emplace();
  all.bodies = BodyFacts{.functions = 3,
                         .changed = {"_Z4workILi7EEmm"},
                         .new_alone = {"more"},
                         .data = {{"front", 0x6d7c0, 0x6d7c0, 1, 21}, {"table", 0x6d7d0, 0x6d7e0, 64, 64}}};
  return all;
}

// Functions may take another time wherever they lie as what they read lies elsewhere.
TEST(ExplainOutputTest, CodeIsNotSaidOfTheSameInstructions) {
  Explanation all = known_code();
  const ExplainOutput code = explain_output(all, 400);
  EXPECT_EQ(code.exit_code, 0);
  EXPECT_TRUE(code.text.starts_with("code: new is 3.05 % slower")) << code.text;
  EXPECT_NE(code.text.find("instructions differ in 1 of 3 functions that can be moved: 'unsigned long work<7>(unsigned long)'; "
                           "new alone has 'more'\n"), std::string::npos) << code.text;
  EXPECT_NE(code.json.find("\"_Z4workILi7EEmm\""), std::string::npos) << code.json;
  all.bodies->renamed = {{"step", "advance"}};
  const ExplainOutput one = explain_output(all, 400);
  EXPECT_NE(one.text.find("; new alone has 'more'; 'step' is 'advance' in new, with the same instructions\n"), std::string::npos)
      << one.text;
  EXPECT_NE(one.json.find("\"old_name\": \"step\""), std::string::npos) << one.json;
  all.bodies->renamed.insert(all.bodies->renamed.end(), {{"b", "c"}, {"d", "e"}});
  EXPECT_NE(explain_output(all, 400).text.find("with the same instructions, and 2 more functions likewise\n"), std::string::npos);
  all.bodies->renamed.clear();
  all.bodies->changed.clear();
  EXPECT_EQ(explain_output(all, 400).exit_code, 0) << "a function more is code";
  all.bodies->new_alone.clear();
  const ExplainOutput data = explain_output(all, 400);
  EXPECT_EQ(data.exit_code, 3);
  EXPECT_TRUE(data.text.starts_with("unresolved: new is 3.05 % slower than old wherever its functions lie, but their "
                                    "instructions are the same: it is what its data are, or where they lie\n")) << data.text;
  EXPECT_NE(data.text.find("of data, modulo 4096, 'front' is 21 bytes long instead of 1, 'table' begins at 2016 instead of 2000"),
            std::string::npos) << data.text;
  EXPECT_EQ(data.text.find("blocks decide"), std::string::npos) << data.text;
  EXPECT_NE(data.json.find("\"answer\": \"unresolved\""), std::string::npos) << data.json;
  all.bodies->data[1].is_other = true;
  const ExplainOutput contents = explain_output(all, 400);
  EXPECT_EQ(contents.exit_code, 0) << "other contents are another work";
  EXPECT_TRUE(contents.text.starts_with("code: new is 3.05 % slower")) << contents.text;
  EXPECT_NE(contents.text.find("differ in none of 3 functions that can be moved; of data, 'table' has other contents\n"),
            std::string::npos) << contents.text;
  EXPECT_NE(contents.json.find("\"other_contents\": true"), std::string::npos) << contents.json;
  all.bodies->data[1].is_other = false;
  all.bodies->knows_constants = false;
  EXPECT_NE(explain_output(all, 400).text.find("moved; strings and other constants are not compared, as not both were built by a "
                                               "szc of today; of data"), std::string::npos);
  all.bodies->knows_constants = true;
  all.bodies->constants = {"_Z4workILi7EEmm"};
  const ExplainOutput constants = explain_output(all, 400);
  EXPECT_EQ(constants.exit_code, 0) << "another string is another work";
  EXPECT_NE(constants.text.find("differ in none of 3 functions that can be moved; a string or another constant that "
                                "'unsigned long work<7>(unsigned long)' uses differs\n"), std::string::npos) << constants.text;
  EXPECT_NE(constants.json.find("\"other_constants\": [\n"), std::string::npos) << constants.json;
  all.bodies->constants.clear();
  all.libraries->rebuilt = 0.3;
  EXPECT_EQ(explain_output(all, 400).exit_code, 0) << "it may be a library's code";
  all.libraries->rebuilt = 0;
  all.bodies->unmatched = 0.02;
  EXPECT_EQ(explain_output(all, 400).exit_code, 0) << "it may be code that was not compared";
  all.answer->code = {0.65, 0.64, 0.66, 0.01, EffectState::kThere};
  EXPECT_EQ(explain_output(all, 400).exit_code, 3) << "a fiftieth of the time can't take 92 % longer";
  all.bodies->unmatched = 0.2;
  EXPECT_EQ(explain_output(all, 400).exit_code, 0) << "a fifth may have become five times as long";
}

// A function that takes no time may make others do more, or its neighbours in data lie elsewhere.
TEST(ExplainOutputTest, CodeMayInPartBeThePlaceOfData) {
  Explanation all = known_code();
  EXPECT_EQ(explain_output(all, 400).text.find("where data lie"), std::string::npos) << "it was not sampled";
  all.bodies->changed_share = 0.004;
  const ExplainOutput said = explain_output(all, 400);
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_NE(said.text.find("new alone has 'more'; these took 0.400 % of the time, so the difference is what they make others do, "
                           "or in part where data lie: of data, modulo 4096, 'front' is 21 bytes long instead of 1"),
            std::string::npos) << said.text;
  EXPECT_NE(said.json.find("\"changed_share\": 0.004"), std::string::npos) << said.json;
  all.bodies->changed_share = 0.3;
  EXPECT_EQ(explain_output(all, 400).text.find("where data lie"), std::string::npos) << "they may make all of it";
  all.bodies->changed_share = 0.004;
  all.bodies->data[1].is_other = true;
  EXPECT_EQ(explain_output(all, 400).text.find("where data lie"), std::string::npos) << "other contents are another work";
}

// What never moves has one place in each program, in all four runs.
TEST(ExplainOutputTest, CodeMayBeThePlaceOfCodeThatNeverMoves) {
  Explanation all = known_code();
  all.bodies->still = {"wide"};
  all.bodies->old_still = 0.6, all.bodies->new_still = 0.62, all.bodies->old_still_error = all.bodies->new_still_error = 0.01;
  const ExplainOutput said = explain_output(all, 400);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.text.starts_with("unresolved: new is 3.05 % slower than old wherever functions lie that can be moved, but "
                                    "'wide', with 61.0 % of the time, never moves, and lies elsewhere in the two: it is code, or "
                                    "the place of that\n")) << said.text;
  EXPECT_EQ(said.text.find("blocks decide"), std::string::npos) << said.text;
  EXPECT_NE(said.json.find("\"old_still_share\": 0.6"), std::string::npos) << said.json;
  all.bodies->old_still = all.bodies->new_still = 0.04;
  EXPECT_EQ(explain_output(all, 400).exit_code, 0) << "too little of it";
  // Of 50 % more time it has taken none: its share is less by a third.
  all.answer->code = {std::log(1.5), std::log(1.49), std::log(1.51), 0.005, EffectState::kThere};
  all.bodies->old_still = 0.6, all.bodies->new_still = 0.4;
  EXPECT_EQ(explain_output(all, 400).exit_code, 0) << "the rest has become slower";
  all.answer->code = {-std::log(1.5), -std::log(1.51), -std::log(1.49), 0.005, EffectState::kThere};
  all.bodies->old_still = 0.4, all.bodies->new_still = 0.6;
  EXPECT_EQ(explain_output(all, 400).exit_code, 0) << "the rest has become faster";
  all.bodies->old_still = 0.6, all.bodies->new_still = 0.4;
  EXPECT_EQ(explain_output(all, 400).exit_code, 3) << "it has become faster, too";
}

// Each type has the one before it twice: after thirty, the source's name would have some 40 GB.
TEST(ExplainOutputTest, NamesThatGrowWithoutBoundStayAsTheyAre) {
  std::string name = "_Z1f1PIiiE", last = "S0_";
  for (int i = 1; i <= 30; ++i) {
    name += "S_I" + last + last + "E";
    last = "S" + std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]) + "_";
  }
  Explanation all = known_code();
  all.bodies->changed = {name};
  EXPECT_NE(explain_output(all, 2000).text.find("'" + name + "'"), std::string::npos);
  all.bodies->changed = {"_Z4joinRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES6_"};
  EXPECT_NE(explain_output(all, 2000).text.find("'join(std::__cxx11::basic_string<char, std::char_traits<char>,...'"),
            std::string::npos) << explain_output(all, 2000).text;
}

// 30 naps of 12 ms instead of 3 ms cost no CPU time.
TEST(ExplainOutputTest, NothingIsNotSaidOfAProgramThatWaits) {
  Explanation all = open_code_and_known_place();
  all.search.reset();
  all.answer->verdict = statistics::CauseVerdict::kNothing;
  all.answer->place = {0.001, -0.002, 0.004, 0.004, EffectState::kAbsent};
  all.wall_command = "stabctl compare ./old ./new compares wall time";
  all.alone = AloneFacts{.old_on_cpu = 0.99, .new_on_cpu = 1};
  const ExplainOutput busy = explain_output(all, 400);
  EXPECT_EQ(busy.exit_code, 0);
  EXPECT_TRUE(busy.text.starts_with("nothing: neither the code nor the place")) << busy.text;
  EXPECT_NE(busy.text.find("compared by CPU time"), std::string::npos) << busy.text;
  EXPECT_NE(busy.json.find("\"clock\": \"cpu_time\""), std::string::npos) << busy.json;
  all.alone = AloneFacts{.old_on_cpu = 0.95, .new_on_cpu = 0.274, .new_waits = true};
  const ExplainOutput said = explain_output(all, 400);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.text.starts_with("unresolved: in CPU time neither the code nor the place of new makes a difference"))
      << said.text;
  EXPECT_NE(said.text.find("; but new was on a CPU for 27 % of its time and waited for the rest"), std::string::npos)
      << said.text;
  EXPECT_NE(said.text.find("next: stabctl compare ./old ./new compares wall time"), std::string::npos) << said.text;
  EXPECT_EQ(said.text.find("number of blocks decides"), std::string::npos) << said.text;
  EXPECT_NE(said.json.find("\"answer\": \"unresolved\""), std::string::npos) << said.json;
  EXPECT_NE(said.json.find("\"new_waits\": true"), std::string::npos) << said.json;
  all.answer->verdict = statistics::CauseVerdict::kPlace;
  EXPECT_EQ(explain_output(all, 400).exit_code, 3) << "the code is not shown to be the same";
  all.answer->verdict = statistics::CauseVerdict::kBoth;
  const ExplainOutput both = explain_output(all, 400);
  EXPECT_EQ(both.exit_code, 0);
  EXPECT_TRUE(both.text.starts_with("both: in CPU time new is ")) << both.text;
  EXPECT_NE(both.text.find("new was on a CPU for 27 % of its time and waited for the rest"), std::string::npos) << both.text;
}

// Two functions whose distance matters, and which make next to nothing of a place of 3.6 %.
TEST(ExplainOutputTest, APairIsNotThePlaceThatItMakesATenthOf) {
  Explanation all = open_code_and_known_place();
  all.answer->verdict = statistics::CauseVerdict::kBoth;
  all.answer->place = {-0.0373, -0.057, -0.0171, 0.02, EffectState::kThere};
  all.search->functions.push_back({"op7", 0x62df0, 0x62f00, 90, 0.1});
  statistics::PlaceAnswer& places = *all.search->answer;
  places.functions = {{-0.002, -0.004, -0.001, 0.2, false}, {-0.001, -0.002, 0.001, 0.4, false}};
  places.pairs = {{0, 1, -0.0049, 1e-5}};
  places.together = {0.001, -0.0038, 0.0058, 1, false};
  places.of_found = -0.003;
  places.cause = statistics::PlaceCause::kElsewhere;
  const std::string said = explain_output(all, 1000).text;
  EXPECT_NE(said.find("% the place, of which 'quantum_toffoli' and 'op7' make -0.30 %\n"), std::string::npos) << said;
  EXPECT_NE(said.find("begin in their page: those that were found make -0.30 %, all 2 functions together"), std::string::npos)
      << said;
  places.of_found = -0.03;
  places.cause = statistics::PlaceCause::kPair;
  EXPECT_NE(explain_output(all, 1000).text.find("% the place of 'quantum_toffoli' and 'op7'\n"), std::string::npos);
}

TEST(ExplainOutputTest, AnInterruptionIsSaidAndIsNoLook) {
  Explanation all = open_code_and_known_place();
  all.answer->verdict = statistics::CauseVerdict::kBoth;
  all.answer->code.state = EffectState::kThere;
  all.unfinished = "it was interrupted";
  all.search.emplace().not_done = "it was interrupted";
  const ExplainOutput late = explain_output(all, 400);
  EXPECT_EQ(late.exit_code, 0) << "the look was over";
  EXPECT_NE(late.text.find("ended early: it was interrupted\n"), std::string::npos) << late.text;
  EXPECT_NE(late.text.find("of which function is not known: it was interrupted"), std::string::npos) << late.text;
  all.search.reset();
  all.is_between_looks = true;
  all.answer->verdict = statistics::CauseVerdict::kUnresolved;
  all.answer->code.state = all.answer->place.state = EffectState::kOpen;
  all.answer->blocks = 3;
  all.answer->settles_at.reset();
  const ExplainOutput said = explain_output(all, 400);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.text.starts_with("unresolved: it was interrupted after 3 blocks, before a look")) << said.text;
  EXPECT_NE(said.text.find("there are looks after 10, 20, 40, "), std::string::npos) << said.text;
  EXPECT_EQ(said.text.find("number of blocks"), std::string::npos) << said.text;
}

TEST(ExplainOutputTest, SidesThatPrintSomethingElseAreToldOf) {
  Explanation all = open_code_and_known_place();
  const auto is_told = [&] {
    return explain_output(all, 400).text.find("the two sides print something else; ") != std::string::npos;
  };
  all.alone = AloneFacts{.old_outputs = {"a", "a", "a"}, .new_outputs = {"b", "b"}};
  EXPECT_TRUE(is_told());
  EXPECT_NE(explain_output(all, 400).json.find("\"outputs_differ\": true"), std::string::npos);
  all.alone->new_outputs = {"a", "a"};
  EXPECT_FALSE(is_told());
  all.alone->new_outputs = {"b", "c"};
  EXPECT_FALSE(is_told()) << "it prints a time";
  all.alone->new_outputs = {"b"};
  EXPECT_FALSE(is_told()) << "nobody knows";
}

TEST(ExplainOutputTest, MoreTimeIsAdvisedOnlyWhereTimeWasShort) {
  Explanation all = open_code_and_known_place();
  const std::string ended = explain_output(all, 200).text;
  EXPECT_NE(ended.find("about 2488 blocks"), std::string::npos) << ended;
  EXPECT_NE(ended.find("explain ends after 640, so a longer run of the program may spread less"), std::string::npos) << ended;
  EXPECT_EQ(ended.find("--at-most"), std::string::npos) << ended;
  all.unfinished = "there was no time for more";
  EXPECT_EQ(explain_output(all, 200).text.find("--at-most"), std::string::npos) << "2488 blocks it never takes";
  all.answer->settles_at = 400;
  EXPECT_NE(explain_output(all, 200).text.find("--at-most gives it more time"), std::string::npos);
}

Explanation code_in_libraries(double share, double unmoved, double apart) {
  Explanation out = open_code_and_known_place();
  out.answer->verdict = statistics::CauseVerdict::kCode;
  out.answer->code = {0.1, 0.09, 0.11, 0.03, EffectState::kThere};
  out.search.reset();
  out.libraries = LibraryFacts{"",
                               share,
                               unmoved,
                               apart,
                               {{"libwork.so!hot", true, false, 0x19d0, 0x1ba0, 0.9, 0.8},
                                {"libother.so!slow", false, false, 0, 0x40, 0, 0.1},
                                {"libc.so.6!memcpy", false, true, 0x80, 0x80, 0.05, 0.05}}};
  return out;
}

TEST(ExplainOutputTest, FunctionsOfLibrariesAreNamedWithTheirPlaces) {
  const std::string said = explain_output(code_in_libraries(0.93, 0.01, 0), 1000).text;
  EXPECT_NE(said.find("93.0 % of the time is in shared libraries"), std::string::npos) << said;
  EXPECT_NE(said.find("libwork.so!hot"), std::string::npos) << said;
  EXPECT_NE(said.find("0x19d0 (16, 16, 2512)"), std::string::npos) << said;
  EXPECT_NE(said.find("their code is part of the code, and their places are not"), std::string::npos) << said;
  EXPECT_EQ(said.find("counts as code"), std::string::npos) << said;
  EXPECT_EQ(explain_output(code_in_libraries(0.049, 0, 0), 1000).text.find("libwork"), std::string::npos);
}

TEST(ExplainOutputTest, PlacesGiveWayBeforeNamesOfFunctions) {
  Explanation all = code_in_libraries(0.93, 0.01, 0);
  all.libraries->functions = {{"libgcc_s.so.1!_Unwind_RaiseException", false, true, 0x118da0, 0x118da0, 0.5, 0.5},
                              {"libstdc++.so.6!__cxa_throw", false, true, 0x13f860, 0x13f860, 0.2, 0.2}};
  for (const int width : {80, 100, 120}) {
    const std::string said = explain_output(all, width).text;
    EXPECT_NE(said.find("libgcc_s.so.1!_"), std::string::npos) << width << said;
    EXPECT_NE(said.find("libstdc++.so.6!__cxa_throw"), std::string::npos) << width << said;
    EXPECT_EQ(said.find("0x118da0") != std::string::npos, width >= 100) << said;
  }
  EXPECT_NE(explain_output(all, 200).text.find("0x118da0 (0, 32, 3488)"), std::string::npos);
}

TEST(ExplainOutputTest, CodeMayBeThePlaceOfALibraryThatStays) {
  const ExplainOutput said = explain_output(code_in_libraries(0.93, 0.9, 0.8), 1000);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.text.starts_with("unresolved: new is 10.52 % slower than old wherever its own functions lie")) << said.text;
  EXPECT_NE(said.text.find("it is code, or the place of those\n"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("80.0 % of the time is in functions of those that begin at another place"), std::string::npos)
      << said.text;
  EXPECT_EQ(said.text.find("blocks decide"), std::string::npos) << "no number of them does: " << said.text;
  EXPECT_NE(said.json.find("\"answer\": \"unresolved\""), std::string::npos) << said.json;
  EXPECT_NE(said.json.find("\"apart_share\": 0.8"), std::string::npos) << said.json;
  Explanation both = code_in_libraries(0.93, 0.9, 0.8);
  both.answer->verdict = statistics::CauseVerdict::kBoth;
  EXPECT_NE(explain_output(both, 1000).text.find("the place is known to make +15.03 %"), std::string::npos);
}

TEST(ExplainOutputTest, CodeIsCodeWhereLibrariesThatStayLieAlike) {
  const ExplainOutput said = explain_output(code_in_libraries(0.93, 0.9, 0.04), 1000);
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_TRUE(said.text.starts_with("code: ")) << said.text;
  EXPECT_NE(said.text.find("90.0 % of the time is in libraries whose code stays"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("stays, alike in both"), std::string::npos) << said.text;
  EXPECT_EQ(said.text.find("counts as code"), std::string::npos) << said.text;
}

TEST(ExplainOutputTest, ThePlaceMayBeThatOfALibrarysFunction) {
  Explanation all = open_code_and_known_place();
  all.libraries = code_in_libraries(0.3, 0, 0).libraries;
  const std::string name = all.libraries->functions[0].name;
  const std::string missed = explain_output(all, 1000).text;
  EXPECT_NE(missed.find("their places are part of the place"), std::string::npos) << missed;
  EXPECT_NE(missed.find("not looked at"), std::string::npos) << missed;
  const size_t mark = name.find('!');
  all.search->functions[0].name = name;
  all.search->functions[0].library = name.substr(0, mark);
  const std::string found = explain_output(all, 1000).text;
  EXPECT_EQ(found.find("not looked at"), std::string::npos) << found;
  all.search->best = statistics::BestPlaces{{true}, {false}, {false}, {}, {-0.14, -0.15, -0.13}};
  const ExplainOutput cured = explain_output(all, 1000);
  EXPECT_NE(cured.text.find("for every later build of " + name.substr(0, mark) + ": place " + name.substr(mark + 1) +
                            " mod 4096 at 2576\n"),
            std::string::npos)
      << cured.text;
  EXPECT_EQ(cured.text.find("layout emit"), std::string::npos) << "the program's own file has nothing of it: " << cured.text;
  EXPECT_NE(cured.json.find("\"library\": \"" + name.substr(0, mark) + "\""), std::string::npos) << cured.json;
  all.search->answer.reset();
  all.search->not_done = "no function of both lies elsewhere";
  EXPECT_NE(explain_output(all, 1000).text.find("not looked at"), std::string::npos);
}

// 'alone' is fast in old, 'kept' in new, and of 'left' and 'right' the one that neither build has.
Explanation several_places() {
  Explanation all = open_code_and_known_place();
  all.command = "stabctl explain main..HEAD";
  FunctionSearch& search = *all.search;
  search.functions = {{"alone", 0x1010, 0x2030, 64, 0.3}, {"left", 0x3040, 0x4080, 64, 0.2},
                      {"right", 0x3140, 0x4880, 64, 0.2}, {"kept", 0x5000, 0x6100, 64, 0.1}};
  statistics::PlaceAnswer& places = *search.answer;
  places.cause = statistics::PlaceCause::kSeveral;
  places.functions = {{0.05, 0.04, 0.06, 1e-9, true}, {0.01, 0.005, 0.015, 0.5, false}, {0.01, 0.005, 0.015, 0.5, false},
                      {-0.02, -0.03, -0.01, 1e-5, true}};
  places.pairs = {{1, 2, 0.06, 1e-7}};
  search.best = statistics::BestPlaces{{true, true, true, true}, {false, true, false, true}, {false, true, true, false},
                                       {-0.03, -0.04, -0.02}, {-0.09, -0.10, -0.08}};
  search.cure = {"stabctl layout emit 17 --out work.layout", "work.layout", "stabctl layout verify work.layout"};
  return all;
}

TEST(ExplainCureTest, SeveralFunctionsAndAPairHaveCommandsAndGains) {
  const ExplainOutput said = explain_output(several_places(), 400);
  EXPECT_NE(said.text.find("cure: a layout file starts 'alone' and 'right' where old has them, 'left' and 'kept' where new has "
                           "them, modulo 4096, in every later build: by these runs new becomes 8.61 % faster [-9.52, -7.69] %, "
                           "and old becomes 2.96 % faster [-3.92, -1.98] %\n"
                           "  stabctl layout emit 17 --out work.layout\n"
                           "  szc --stab-layout=work.layout ...\n"
                           "  stabctl layout verify work.layout\n"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("their distance matters, modulo 4096 256 bytes in old and 2048 in new\n"), std::string::npos)
      << said.text;
  const auto json = nlohmann::json::parse(said.json);
  ASSERT_EQ(json["cure"].size(), 4u);
  const auto& alone = json["cure"][0];
  EXPECT_EQ(alone["function"], "alone");
  EXPECT_EQ(alone["modulus"], 4096);
  EXPECT_EQ(alone["place"], 0x10);
  EXPECT_EQ(alone["as_in"], "old");
  EXPECT_EQ(alone["gain"]["build"], "new");
  EXPECT_NEAR(alone["gain"]["difference"].get<double>(), std::expm1(-0.05), 1e-12);
  EXPECT_NEAR(alone["gain"]["low"].get<double>(), std::expm1(-0.06), 1e-12);
  EXPECT_NEAR(alone["gain"]["high"].get<double>(), std::expm1(-0.04), 1e-12);
  EXPECT_EQ(alone["line"], "place alone mod 4096 at 16");
  EXPECT_EQ(alone["command"], "stabctl layout emit 17 --out work.layout");
  EXPECT_TRUE(json["cure"][1]["together"]);
  EXPECT_FALSE(json["cure"][1].contains("gain"));
  EXPECT_EQ(json["cure"][1]["place"], 0x80);
  EXPECT_EQ(json["cure"][2]["place"], 0x140);
  EXPECT_EQ(json["cure"][3]["gain"]["build"], "old");
  EXPECT_NEAR(json["cure"][3]["gain"]["low"].get<double>(), std::expm1(-0.03), 1e-12);
  EXPECT_NEAR(json["cured"]["in_new"]["low"].get<double>(), std::expm1(-0.10), 1e-12);
  EXPECT_NEAR(json["cured"]["in_old"]["difference"].get<double>(), std::expm1(-0.03), 1e-12);
  EXPECT_EQ(json["cured"]["build"], "szc --stab-layout=work.layout");
  EXPECT_EQ(json["cured"]["verify"], "stabctl layout verify work.layout");
  EXPECT_FALSE(json.contains("no_cure"));
  EXPECT_EQ(json["functions"]["pairs"][0]["old_distance"], 256);
}

// A program's name is part of what its user types into a shell.
TEST(ExplainCureTest, CommandsQuoteNamesOfFiles) {
  Explanation all = several_places();
  all.search->cure.file = "a b; true.layout";
  const ExplainOutput said = explain_output(all, 400);
  EXPECT_NE(said.text.find("\n  szc --stab-layout='a b; true.layout' ...\n"), std::string::npos) << said.text;
  EXPECT_EQ(nlohmann::json::parse(said.json)["cured"]["build"], "szc --stab-layout='a b; true.layout'");
}

TEST(ExplainCureTest, WithoutADatabaseItIsAskedAgain) {
  Explanation all = several_places();
  all.search->cure.must_ask_again = true;
  const ExplainOutput said = explain_output(all, 400);
  EXPECT_NE(said.text.find("\n  stabctl explain main..HEAD\n  these runs are not kept"), std::string::npos) << said.text;
  EXPECT_EQ(said.text.find("layout emit"), std::string::npos) << said.text;
  const auto json = nlohmann::json::parse(said.json);
  EXPECT_EQ(json["cure"][0]["command"], "stabctl explain main..HEAD");
  EXPECT_EQ(json["cured"]["verify"], "");
}

TEST(ExplainCureTest, WhereNoneIsPossibleItSaysWhy) {
  Explanation all = several_places();
  all.search->best.reset();
  all.search->functions[0].why_unplaced = "it is not aligned by 16, so no layout file can place it";
  const ExplainOutput said = explain_output(all, 1000);
  EXPECT_NE(said.text.find("no cure: 'alone' stays: it is not aligned by 16, so no layout file can place it; 'kept' stays: "),
            std::string::npos) << said.text;
  const auto json = nlohmann::json::parse(said.json);
  EXPECT_EQ(json["cure"].size(), 0u);
  EXPECT_FALSE(json.contains("cured"));
  EXPECT_NE(json["no_cure"].get<std::string>().find("not aligned by 16"), std::string::npos);
  all.search->answer->functions = {{}, {}, {}, {}};
  all.search->answer->pairs.clear();
  for (const auto& [cause, why] : {std::pair{statistics::PlaceCause::kMany, "none was found by itself"},
                                   std::pair{statistics::PlaceCause::kElsewhere, "that is not what it is"},
                                   std::pair{statistics::PlaceCause::kOpen, "more time, --at-most, makes more runs"}}) {
    all.search->answer->cause = cause;
    EXPECT_NE(explain_output(all, 1000).text.find(why), std::string::npos);
  }
  all.search->answer.reset();
  all.search->not_done = "it was interrupted";
  EXPECT_EQ(nlohmann::json::parse(explain_output(all, 400).json)["no_cure"], "it was interrupted");
  // Of what was found, one may be out of reach.
  Explanation part = several_places();
  part.search->best->is_placed[3] = false;
  part.search->functions[3].why_unplaced = "a layout file names functions, and it has no name that no other function has";
  const ExplainOutput some = explain_output(part, 1000);
  EXPECT_NE(some.text.find("\n  'kept' stays: a layout file names functions"), std::string::npos) << some.text;
  EXPECT_EQ(nlohmann::json::parse(some.json)["cured"]["left_out"].size(), 1u);
}

TEST(ExplainOutputTest, LibrariesThatAreNotKnownAreNotSilentlyNone) {
  Explanation all = code_in_libraries(0, 0, 0);
  all.libraries->not_known = "the program could not be sampled";
  const ExplainOutput said = explain_output(all, 1000);
  EXPECT_NE(said.text.find("how much of the time is in shared libraries is not known: the program could not be sampled"),
            std::string::npos)
      << said.text;
  EXPECT_NE(said.json.find("\"not_known\": \"the program could not be sampled\""), std::string::npos) << said.json;
}

statistics::CauseEffect effect(double estimate, double half_width, EffectState state) {
  return {estimate, estimate - half_width, estimate + half_width, 0.01, state};
}

// To half of the margin, and of a cause that is open nothing is said.
TEST(ExplainOutputTest, ASimulatorAgreesWhereTheIntervalsMeet) {
  using S = EffectState;
  const auto agrees = [](const statistics::CauseEffect& measured, const statistics::CauseEffect& simulated) {
    return word_of(agreement_of(measured, simulated, 0.01));
  };
  EXPECT_EQ(agrees(effect(0.03, 0.002, S::kThere), effect(0.036, 0, S::kThere)), "yes");
  EXPECT_EQ(agrees(effect(0.03, 0.002, S::kThere), effect(0.0375, 0, S::kThere)), "other size");
  EXPECT_EQ(agrees(effect(0.03, 0.002, S::kThere), effect(0.0225, 0, S::kThere)), "other size");
  EXPECT_EQ(agrees(effect(0.03, 0.002, S::kThere), effect(0.0375, 0.002, S::kThere)), "yes") << "its layouts differ";
  EXPECT_EQ(agrees(effect(0.03, 0.002, S::kThere), effect(-0.03, 0, S::kThere)), "no");
  EXPECT_EQ(agrees(effect(0.03, 0.002, S::kThere), effect(0, 0, S::kAbsent)), "no");
  EXPECT_EQ(agrees(effect(0, 0.002, S::kAbsent), effect(0.03, 0, S::kThere)), "no");
  EXPECT_EQ(agrees(effect(0, 0.002, S::kAbsent), effect(0, 0, S::kAbsent)), "yes");
  EXPECT_EQ(agrees(effect(0.01, 0.05, S::kOpen), effect(0.03, 0, S::kThere)), "open");
  EXPECT_EQ(agrees(effect(0.01, 0.01, S::kOpen), effect(0.05, 0, S::kThere)), "no") << "open, and not so far";
  EXPECT_EQ(agrees(effect(0, 0.002, S::kAbsent), effect(0.01, 0.05, S::kOpen)), "open");
}

TEST(ExplainOutputTest, WhatTheSimulatorSaysStandsNextToWhatWasMeasured) {
  Explanation all = known_code();
  all.simulated.emplace();
  all.simulated->model = "simulated cost = instructions + 10 x first-level misses";
  all.simulated->old_run = {60'100'000, 61e6};
  all.simulated->new_run = {61'900'000, 63e6};
  all.simulated->instructions = effect(std::log(619.0 / 601), 0, EffectState::kThere);
  statistics::CauseAnswer& counted = all.simulated->answer;
  counted.verdict = statistics::CauseVerdict::kCode;
  counted.plain = counted.code = effect(0.031, 0.0001, EffectState::kThere);
  counted.place = effect(0, 0, EffectState::kAbsent);
  counted.blocks = 5;
  const ExplainOutput same = explain_output(all, 200);
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_NE(same.text.find("60.10 M  61.90 M"), std::string::npos) << same.text;
  EXPECT_NE(same.text.find("\nthe simulator agrees on the code and on the place\n"), std::string::npos) << same.text;
  EXPECT_NE(same.text.find("simulated in 5 layouts that both share; "), std::string::npos) << same.text;
  nlohmann::json json = nlohmann::json::parse(same.json).at("simulated");
  EXPECT_EQ(json.at("answer"), "code");
  EXPECT_EQ(json.at("agrees"), (nlohmann::json{{"code", "yes"}, {"place", "yes"}}));
  EXPECT_EQ(json.at("new_instructions"), 61'900'000);
  EXPECT_EQ(json.at("layouts"), 5);

  counted.code = effect(0.015, 0, EffectState::kThere);
  EXPECT_NE(explain_output(all, 400).text.find(
                "\nthe simulator agrees on the place; the simulator makes the code +1.51 %, where +3.05 % was measured: it "
                "counts each instruction as one"), std::string::npos) << explain_output(all, 400).text;
  counted.code = effect(0.06, 0, EffectState::kThere);
  EXPECT_NE(explain_output(all, 400).text.find("a processor works on several instructions at once"), std::string::npos);
  all.answer->place = effect(0.3, 0.01, EffectState::kThere);
  all.answer->code = effect(0.01, 0.03, EffectState::kOpen);
  counted.code = effect(0.031, 0, EffectState::kThere);
  EXPECT_NE(explain_output(all, 400).text.find(
                "\nwhat was measured leaves the code open, and the simulator makes it +3.15 %; the simulator makes the place "
                "+0.00 %, where +34.99 % was measured: it knows caches and an old branch predictor, and not how"),
            std::string::npos)
      << explain_output(all, 400).text;
}

TEST(ExplainOutputTest, WhyTheSimulatorSaysNothingIsTold) {
  Explanation all = open_code_and_known_place();
  all.simulated.emplace().not_done = "the time was over";
  const ExplainOutput said = explain_output(all, 400);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_NE(said.text.find("\nnot simulated: the time was over\n"), std::string::npos) << said.text;
  EXPECT_EQ(said.text.find("--simulate"), std::string::npos) << "it was asked already";
  EXPECT_EQ(nlohmann::json::parse(said.json).at("simulated"), (nlohmann::json{{"not_done", "the time was over"}}));
  all.simulated.reset();
  EXPECT_NE(explain_output(all, 400).text.find("; or count what both execute, without noise: --simulate\n"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(explain_output(all, 400).json).contains("simulated"));
}

}  // namespace
}  // namespace stab::commands
