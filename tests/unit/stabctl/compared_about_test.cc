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

// A script is no binary, and no build of it with szc tells code and addresses apart.
TEST(ComparedAbout, ScriptIsNamedNextToBinary) {
  AdHocPlan plan;
  plan.commands = {command("/x/old.sh", "1"), command("/x/new", "1")};
  plan.commands[0].is_script = true;
  EXPECT_EQ(about(plan), "the difference is that of '/x/old.sh', a script, and '/x/new', a binary, with the programs that the "
                         "script starts: the addresses of all their code are a part of it");
  plan.commands[1].szc.code = true;
  EXPECT_THAT(about(plan), testing::StartsWith("'/x/old.sh' is a script, so no layout was random: the difference is that of "));
  plan.commands.push_back(command("/x/newer.sh", "1"));
  plan.commands[2].is_script = true;
  EXPECT_THAT(about(plan), HasSubstr("the differences are those of '/x/old.sh', a script, '/x/new', a binary, and "
                                     "'/x/newer.sh', a script, with the programs that the scripts start"));
}

// Neither szc nor explain helps there: its code can't move, and stays where llvm-bolt has put it.
TEST(ComparedAbout, RewrittenProgramIsNamed) {
  AdHocPlan plan;
  plan.commands = {command("/x/old", "1"), command("/x/new", "1")};
  for (MeasuredCommand& one : plan.commands) one.szc.stack = true;
  plan.commands[0].szc.code = true;
  plan.commands[1].szc.rewritten = true;
  EXPECT_THAT(about(plan), testing::StartsWith("'/x/new' was rewritten by llvm-bolt, and its code stays where that put it, so no "
                                               "layout was random: the difference is that of these two binaries, the addresses"));
  EXPECT_THAT(about(plan), Not(HasSubstr("CC=szc")));
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
