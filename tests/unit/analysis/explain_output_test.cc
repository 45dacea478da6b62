// What `stabctl explain` says where the place is known and the code is open. Whole runs: tests/e2e/explain_test, tests/explain.
#include <gtest/gtest.h>

#include "analysis/commands/explain.h"

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
  search.answer = places;
  out.search = search;
  return out;
}

TEST(ExplainOutputTest, KnownPlaceHasItsFunctionThoughTheCodeIsOpen) {
  const ExplainOutput said = explain_output(open_code_and_known_place(), 200);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_NE(said.text.find("the place of 'quantum_toffoli' is known to make +15.03 %"), std::string::npos) << said.text;
}

TEST(ExplainOutputTest, MoreTimeIsAdvisedOnlyWhereTimeWasShort) {
  Explanation all = open_code_and_known_place();
  const std::string ended = explain_output(all, 200).text;
  EXPECT_NE(ended.find("about 2488 blocks"), std::string::npos) << ended;
  EXPECT_NE(ended.find("it takes 640 at most"), std::string::npos) << ended;
  EXPECT_EQ(ended.find("--at-most"), std::string::npos) << ended;
  all.unfinished = "there was no time for more";
  EXPECT_NE(explain_output(all, 200).text.find("--at-most gives it more time"), std::string::npos);
}

}  // namespace
}  // namespace stab::commands
