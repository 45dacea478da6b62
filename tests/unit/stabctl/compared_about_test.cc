// What an answer says about its sides: one binary, two, or commits of which two were built.
#include "stabctl/compare/compared_about.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string about(const AdHocPlan& plan) { return about_sides(plan, {}, false); }

MeasuredCommand command(const std::string& program, const std::string& word) {
  return {.shown = program + " " + word, .words = {program, word}, .szc = {}};
}

TEST(ComparedAbout, ProgramsOfOneNameAreOneBinary) {
  AdHocPlan plan;
  plan.commands = {command("/x/old", "1"), command("/x/old", "2")};
  EXPECT_THAT(about(plan), HasSubstr("both sides are one binary"));
  plan.commands[1].words[0] = "/x/new";
  EXPECT_THAT(about(plan), HasSubstr("the difference is that of these two binaries"));
}

// One command is run in both, and each has what was built of its commit.
TEST(ComparedAbout, CommitsAreTwoBinaries) {
  AdHocPlan plan;
  plan.commands = {command("./bench", "20")};
  plan.built.build = "make CC=gcc bench";
  plan.built.revisions = {{"main", "1111"}, {"HEAD", "2222"}};
  EXPECT_THAT(about(plan), Not(HasSubstr("one binary")));
  EXPECT_THAT(about(plan), HasSubstr("--build doesn't name szc, so no layout was random: the difference is that of these two "
                                     "binaries, the addresses of their code included"));
}

TEST(ComparedAbout, OneCommitHasNoDifference) {
  AdHocPlan plan;
  plan.commands = {command("./bench", "20")};
  plan.built.revisions = {{"main", "1111"}, {"HEAD", "1111"}};
  EXPECT_THAT(about(plan), HasSubstr("both sides are one commit"));
}

}  // namespace
}  // namespace stab::ctl
