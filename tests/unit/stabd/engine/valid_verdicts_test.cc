// What a running experiment's verdicts may be told of: a confidence sequence's, and no other rule's.
#include "stabd/engine/results/valid_verdicts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/analysis/watched_blocks.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

report::Samples running(uint32_t blocks, report::StoppingRule rule) {
  Rng rng = Rng::stream(31, "valid verdicts");
  report::Samples samples = analysis::watched_blocks(rng, {.programs = 2}, 60, 5, 0.5);
  samples = report::first_blocks(samples, blocks);
  samples.incomplete = true;
  samples.responses[0].unit = "KiB";
  samples.stopping.rule = rule;
  return samples;
}

TEST(ValidVerdicts, ASequencesAreToldWhileItRuns) {
  const auto told = valid_verdicts_json(running(20, report::StoppingRule::kSequence));
  ASSERT_TRUE(told) << told.error().message;
  const Json verdicts = Json::parse(*told);
  EXPECT_EQ(verdicts["replicates"], 20);
  // Both programs and these programs; programs like these wait for the end.
  ASSERT_EQ(verdicts["contrasts"].size(), 3u);
  for (const Json& one : verdicts["contrasts"]) {
    EXPECT_EQ(one["verdict"], "changed");
    EXPECT_NE(one["population"], "programs like these");
    EXPECT_LT(one["conf_low"], one["estimate"]);
    EXPECT_LT(one["estimate"], one["conf_high"]);
    EXPECT_EQ(one["unit"], "KiB");
  }
}

TEST(ValidVerdicts, OtherRulesAndTooFewReplicatesTellNothing) {
  for (const auto rule : {report::StoppingRule::kFixed, report::StoppingRule::kLooks, report::StoppingRule::kPrecision}) {
    report::Samples samples = running(20, rule);
    samples.stopping.looks = {20, 60};
    EXPECT_EQ(*valid_verdicts_json(samples), "") << static_cast<int>(rule);
    samples.incomplete = false;  // as at a declared look, which the report tells of, and nobody before it
    EXPECT_EQ(*valid_verdicts_json(samples), "") << static_cast<int>(rule);
  }
  EXPECT_EQ(*valid_verdicts_json(running(7, report::StoppingRule::kSequence)), "") << "before its first replicates";
}

TEST(ValidVerdicts, ResponsesThatWereNotDeclaredAreNotTold) {
  report::Samples samples = running(20, report::StoppingRule::kSequence);
  samples.responses[0].declared = false;
  EXPECT_EQ(*valid_verdicts_json(samples), "");
}

}  // namespace
}  // namespace stab::engine
