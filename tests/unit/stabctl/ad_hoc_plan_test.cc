// Plans made of commands: what stands in them is what was typed, and the plan's own parser takes it.
#include "stabctl/sides/ad_hoc_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/design.h"
#include "plan/parse.h"
#include "plan/short_plan.h"
#include "stabctl/sides/clock_choice.h"

namespace stab::ctl {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

MeasuredCommand command(const std::string& shown, const std::vector<std::string>& words, bool szc = false) {
  return {.shown = shown, .words = words, .szc = {.code = szc, .stack = szc}};
}

AdHocPlan two_sides(bool szc) {
  AdHocPlan plan;
  plan.comment = "made by a test";
  plan.name = "old-new";
  plan.commands = {command("./old {} 'a b'", {"/x/old", "{}", "a b"}, szc), command("./new", {"/x/new"}, szc)};
  plan.looks = looks_up_to(64);
  plan.sliced = true;
  plan.randomized = szc;
  plan.epoch = milliseconds(4);
  plan.directory = "/x";
  plan.environment = {"LD_LIBRARY_PATH=/x/{lib}"};
  plan.exit = {0, 3};
  plan.same_stdout = true;
  return plan;
}

plan::Plan parsed(const AdHocPlan& of) {
  plan::Parsed parsed = plan::parse_plan(text_of(of), "ad hoc", {});
  EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors) << text_of(of);
  return parsed.plan ? *std::move(parsed.plan) : plan::Plan();
}

std::vector<std::string> words_of(const plan::Plan& plan, size_t cell) {
  const auto design = plan::make_design(plan);
  EXPECT_TRUE(design && design->cells.size() > cell);
  return plan::substitute(plan.programs[0].workloads[0].run, plan, design->cells[cell], 0).argv;
}

TEST(AdHocPlan, EachSideRunsTheWordsThatWereTyped) {
  const plan::Plan plan = parsed(two_sides(false));
  EXPECT_THAT(words_of(plan, 0), ElementsAre("/x/old", "{}", "a b"));
  EXPECT_THAT(words_of(plan, 1), ElementsAre("/x/new"));
  const plan::Workload& workload = plan.programs[0].workloads[0];
  EXPECT_EQ(workload.cwd, "/x");
  EXPECT_THAT(workload.expect.exit, ElementsAre(0, 3));
  EXPECT_TRUE(workload.expect.same_stdout);
  EXPECT_EQ(plan.experiment.blocks, plan::BlockMode::kSliced);
  EXPECT_EQ(plan.experiment.replicates, 64);
  EXPECT_THAT(plan.stopping.looks, ElementsAre(8, 16, 32, 64));
}

TEST(AdHocPlan, LayoutsAreRandomWhereBothSidesCanBe) {
  const plan::Plan plain = parsed(two_sides(false)), random = parsed(two_sides(true));
  EXPECT_EQ(plain.factor_index("code"), -1);
  for (const char* factor : {"code", "stack", "heap", "epoch"}) EXPECT_GE(random.factor_index(factor), 0) << factor;
  EXPECT_FALSE(plan::has_epoch_by_preflight(random));
  AdHocPlan open = two_sides(true);
  open.epoch = milliseconds(0);
  EXPECT_TRUE(plan::has_epoch_by_preflight(parsed(open)));
  open.one_layout_a_run = true;
  EXPECT_EQ(parsed(open).factor_index("epoch"), -1);
  AdHocPlan half = two_sides(true);
  half.commands[1].szc.stack = false;
  EXPECT_EQ(parsed(half).factor_index("stack"), -1);
}

TEST(AdHocPlan, WallTimeIsAskedOfRunsInTurn) {
  AdHocPlan of = two_sides(false);
  of.sliced = false;
  const plan::Plan plan = parsed(of);
  EXPECT_EQ(plan.experiment.blocks, plan::BlockMode::kInTurn);
  EXPECT_EQ(plan.experiment.responses[0].name, "wall_time");
}

TEST(AdHocPlan, PreparesInTheUsersFolder) {
  AdHocPlan of = two_sides(false);
  of.prepare = "rm -rf {cache} # and no more";
  of.input = "/dev/null";
  of.warmup = 3;
  of.directory = "/home/ada/a folder";
  const plan::Plan plan = parsed(of);
  EXPECT_EQ(plan.programs[0].workloads[0].warmup, 3);
  EXPECT_EQ(plan.programs[0].workloads[0].stdin_path, "/dev/null");
  const std::string& script = plan.programs[0].prepare.argv[2];
  EXPECT_EQ(script, "cd '/home/ada/a folder' && {{\nrm -rf {{cache}} # and no more\n}}") << "placeholders are read once more";
  of.directory.clear();
  EXPECT_EQ(parsed(of).programs[0].prepare.argv[2], "rm -rf {{cache}} # and no more");
}

TEST(AdHocPlan, RevisionsAreBuilt) {
  AdHocPlan of;
  of.name = "bench";
  of.commands = {command("./bench 20", {"./bench", "20"})};
  of.built = {
      "/repo", "make CC='szc -O2' {x}", {{"main", std::string(40, 'a')}, {"HEAD", std::string(40, 'b')}}, {"data/in.txt"}};
  of.looks = {10, 20};
  of.randomized = true;
  const plan::Plan plan = parsed(of);
  EXPECT_THAT(words_of(plan, 1), ElementsAre("./bench", "20"));
  EXPECT_EQ(plan.programs[0].source.revision, std::string("{") + kSideFactor + "}");
  EXPECT_THAT(plan.programs[0].build.argv, ElementsAre("/bin/sh", "-c", "make CC='szc -O2' {{x}}"));
}

TEST(AdHocPlan, OneProgramHasNoSides) {
  AdHocPlan of;
  of.name = "prog";
  of.commands = {command("./prog {a}", {"/x/prog", "{a}"}, true)};
  of.looks = {20};
  of.randomized = true;
  of.one_layout_a_run = true;
  of.runs_per_seed = 2;
  const plan::Plan plan = parsed(of);
  EXPECT_EQ(plan.factor_index(kSideFactor), -1);
  EXPECT_THAT(words_of(plan, 0), ElementsAre("/x/prog", "{a}"));
  EXPECT_EQ(plan.experiment.runs_per_seed, 2);
}

TEST(AdHocPlan, SidesHaveNamesOfTheirOwn) {
  const std::string longer(400, 'x');
  EXPECT_THAT(names_of_sides({command("./prog", {"/p"}), command("./prog", {"/p"})}), ElementsAre("./prog", "./prog (2)"));
  for (const std::string& name : names_of_sides({command(longer + "a", {"/p"}), command(longer + "b", {"/p"})}))
    EXPECT_LE(name.size(), 200u);
  EXPECT_EQ(names_of_sides({command(std::string(187, 'x') + "\u00e4\u00e4", {"/p"})})[0], std::string(187, 'x') + "...");
}

TEST(AdHocPlan, LooksDoubleUpToTheLast) {
  EXPECT_THAT(looks_up_to(100), ElementsAre(12, 25, 50, 100));
  EXPECT_THAT(looks_up_to(6), ElementsAre(6));
}

TEST(AdHocPlan, AShortRunSeesFewLayouts) {
  EXPECT_EQ(few_layouts_text(milliseconds(5), milliseconds(1)),
            "a run takes 5 ms and sees some 5 layouts, where 30 and more are wanted; give the program more to do");
  EXPECT_EQ(few_layouts_text(milliseconds(70), milliseconds(2)), "");
  EXPECT_EQ(few_layouts_text(milliseconds(5), milliseconds(0)), "");  // the preflight says
}

TEST(ChosenClock, AProgramThatGivesItsCpuUpNoMoreOftenThanATrialMakesItIsBusy) {
  const TriedProgram delayed{"new", 0.7, 1000, std::chrono::milliseconds(20), 1, 1};
  const TriedProgram waited{"new", 0.6, 1000, std::chrono::milliseconds(24), 1, 0};
  EXPECT_EQ(of_tries(delayed, delayed).busy, 0.7) << "two tell nothing";
  const TriedProgram three = of_tries(of_tries(waited, delayed), delayed);
  EXPECT_EQ(three.busy, 1.0);
  EXPECT_EQ(three.tries, 3);
  EXPECT_EQ(three.unwaited, 2);
  const TriedProgram sleeps = of_tries(of_tries(waited, delayed), waited);
  EXPECT_EQ(sleeps.busy, 0.7) << "of one that waits itself the busiest try counts";
  EXPECT_TRUE(sleeps.may_not_have_waited());
}

TEST(ClockChoice, CpuTimeIsForProgramsThatKeepOneCpuBusy) {
  const auto choose = [](double a, double b, int64_t available = 8 << 20) {
    return choose_clock({{"old", a, 1000}, {"new", b, 1000}}, available);
  };
  EXPECT_TRUE(choose(0.99, 0.95).sliced);
  EXPECT_THAT(choose(0.99, 0.95).sentence, HasSubstr("99 % and 95 %"));
  EXPECT_FALSE(choose(0.99, 0.5).sliced);
  EXPECT_THAT(choose(0.99, 0.5).sentence, HasSubstr("new was on a CPU for 50 %"));
  EXPECT_FALSE(choose(3.4, 1).sliced);
  EXPECT_THAT(choose(3.4, 1).sentence, HasSubstr("several CPUs"));
  EXPECT_FALSE(choose(1, 1, 1000).sliced);
  EXPECT_THAT(choose(1, 1, 1000).sentence, HasSubstr("MiB"));
  const ClockChoice three = choose_clock({{"a", 1, 1000}, {"b", 0.99, 1000}, {"c", 0.98, 1000}}, 16 << 20);
  EXPECT_THAT(three.sentence, HasSubstr("all sides at once"));
  EXPECT_THAT(three.sentence, HasSubstr("(100 %, 99 % and 98 % of its time)"));
  const ClockChoice prepared = choose_clock({{"old", 1, 1000}, {"new", 1, 1000}}, {}, true);
  EXPECT_FALSE(prepared.sliced);
  EXPECT_THAT(prepared.sentence, HasSubstr("--prepare readies this folder for one run"));
}

}  // namespace
}  // namespace stab::ctl
