#include "plan/layout_scripts.h"

#include <gmock/gmock.h>

#include "plan_fixture.h"

namespace stab::plan {
namespace {

using abi::CodeMode;
using ::testing::HasSubstr;

// A plan whose code has these levels, with these responses and this script.
std::string text_of(const std::string& levels, const std::string& script, const std::string& responses = "\"wall_time\"") {
  std::string text = "[experiment]\nname = \"t\"\nseed = 7\nreplicates = 3\nrecord_samples = true\n";
  text += "response = [" + responses + "]\n";
  if (!levels.empty()) text += "[factors]\ncode = [" + levels + "]\n";
  text += "[[program]]\nname = \"p\"\nrun = [\"p\"]\n";
  return script.empty() ? text : text + "layout_script = '''\n" + script + "'''\n";
}

constexpr char kScript[] = "stab-script 1 0xab\nplace f mod 64 0 32\nrest still\ncount g\n";

TEST(LayoutScripts, EachLevelIsToldWhatItCanObey) {
  const Plan plan = parsed(text_of("\"design\", \"shuffle\", \"off\"", kScript));
  EXPECT_TRUE(plan.experiment.record_samples);
  EXPECT_EQ(script_of_trial(plan, plan.programs[0], CodeMode::kDesign), kScript);
  EXPECT_EQ(script_of_trial(plan, plan.programs[0], CodeMode::kShuffle), "stab-script 1 0xab\ncount g\n");
  EXPECT_EQ(script_of_trial(plan, plan.programs[0], CodeMode::kOff), "");
}

TEST(LayoutScripts, AResponseCountsItsFunction) {
  const Plan plan =
      parsed(text_of("\"copy\", \"shuffle\"", "", "\"progress:function:f\", \"progress:own\", \"progress:function:g\""));
  EXPECT_EQ(script_of_trial(plan, plan.programs[0], CodeMode::kCopy), "stab-script 1 any\ncount f\ncount g\n");
  // One that the script counts, too, is counted once.
  const Plan both = parsed(text_of("\"design\"", "stab-script 1 any\nplace f mod 64 0\ncount g", "\"progress:function:g\""));
  EXPECT_EQ(script_of_trial(both, both.programs[0], CodeMode::kDesign), "stab-script 1 any\nplace f mod 64 0\ncount g\n");
  const Plan none = parsed(text_of("\"shuffle\"", "", "\"progress:own\""));
  EXPECT_EQ(script_of_trial(none, none.programs[0], CodeMode::kShuffle), "");
  EXPECT_EQ(counted_function("function:f"), "f");
  EXPECT_EQ(counted_function("f"), "");
}

TEST(LayoutScripts, WhatNoProgramCouldObeyIsAnErrorOfThePlan) {
  EXPECT_THAT(errors_of(text_of("\"design\"", "stab-script 1 any\nplace f mod 65 0\n")),
              HasSubstr("layout_script, line 2: expected 'mod' and a power of two"));
  EXPECT_THAT(errors_of(text_of("\"design\"", "")), HasSubstr("program 'p' has no layout script"));
  EXPECT_THAT(errors_of(text_of("\"shuffle\"", kScript)), HasSubstr("code has no level that obeys it"));
  EXPECT_THAT(errors_of(text_of("\"off\", \"copy\"", "", "\"progress:function:f\"")), HasSubstr("code is off in some cells"));
  EXPECT_THAT(errors_of(text_of("", "", "\"progress:function:f\"")), HasSubstr("and code is off"));
  const std::string nine = "\"progress:function:a\", \"progress:function:b\", \"progress:function:c\", \"progress:function:d\", "
                           "\"progress:function:e\", \"progress:function:f\", \"progress:function:g\", \"progress:function:h\"";
  parsed(text_of("\"copy\"", "", nine));
  EXPECT_THAT(errors_of(text_of("\"copy\"", "stab-script 1 any\ncount i\n", nine)), HasSubstr("and 8 counted"));
  EXPECT_THAT(errors_of(text_of("\"copy\"", "", "\"progress:function:" + std::string(103, 'n') + "\"")), HasSubstr("response"));
}

}  // namespace
}  // namespace stab::plan
