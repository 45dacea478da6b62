// A plan of five keys: what it leaves out.
#include "plan/short_plan.h"

#include <gmock/gmock.h>

#include "plan/design.h"
#include "tests/unit/plan/plan_fixture.h"

namespace stab::plan {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kProgram[] = "[[program]]\nbuild = \"make CC=szc CFLAGS={opt} bench\"\nrun = [\"./bench\", \"20\"]\n";

std::string of(const std::string& factors = "", const std::string& program = kProgram, const std::string& tables = "") {
  return tables + "[factors]\nopt = [\"-O2\", \"-O3\"]\n" + factors + program;
}

std::vector<std::string> factors_of(const std::string& text) {
  const Parsed parsed = parse_plan(text, "bench.toml");
  std::vector<std::string> names;
  if (!parsed.plan) return {toml::render(parsed.errors)};
  for (const Factor& factor : parsed.plan->factors)
    names.push_back(factor.name + (factor.levels.size() == 1 ? "=" + factor.levels[0].name : ""));
  return names;
}

std::string errors_of(const std::string& text, const std::string& path = "bench.toml") {
  return toml::render(parse_plan(text, path).errors);
}

TEST(ShortPlan, FiveKeysAreEnough) {
  const Parsed parsed = parse_plan(of("randomize = true\n"), "folder/o2 against o3.toml");
  ASSERT_TRUE(parsed.plan) << toml::render(parsed.errors);
  const Plan& plan = *parsed.plan;
  EXPECT_EQ(plan.experiment.name, "o2_against_o3");
  EXPECT_EQ(plan.experiment.seed, 1u);
  EXPECT_EQ(plan.stopping.rule, StoppingRule::kLooks);
  EXPECT_THAT(plan.stopping.looks, ElementsAre(10, 20, 40));
  EXPECT_EQ(plan.experiment.replicates, 40);
  EXPECT_EQ(plan.programs[0].name, "bench");
  const Result<Design> design = make_design(plan);
  ASSERT_TRUE(design.ok());
  ASSERT_EQ(design->cells.size(), 2u);
  EXPECT_EQ(design->cells[1].name, "opt=-O3 code=shuffle stack=on heap=page epoch=auto");
  EXPECT_EQ(design->cells[1].layout.code, abi::CodeMode::kShuffle);
  EXPECT_EQ(design->cells[1].layout.epoch_ns, kEpochOfPreflightNs);
  EXPECT_TRUE(has_epoch_by_preflight(plan));
}

TEST(ShortPlan, RandomizesWhereThePlanSaysSo) {
  EXPECT_THAT(factors_of(of("randomize = true\n")), ElementsAre("opt", "code=shuffle", "stack=on", "heap=page", "epoch=auto"));
  for (const char* factors : {"", "randomize = false\n", "link = { seeds = 4 }\n"})
    EXPECT_THAT(factors_of(of(factors)), ElementsAre("opt")) << factors;
  EXPECT_THAT(factors_of(of("randomize = true\n", kProgram, "[layout]\nepoch = \"5ms\"\n")),
              ElementsAre("opt", "code=shuffle", "stack=on", "heap=page", "epoch=5ms"));
  EXPECT_THAT(
      factors_of(of("randomize = true\n", kProgram, "[counters]\nsimulate = \"cachegrind\"\n[experiment]\nreplicates = 3\n")),
      ElementsAre("opt", "code=once", "stack=on", "heap=page"));
  EXPECT_THAT(errors_of(of("randomize = \"yes\"\n")), HasSubstr("'randomize' is a string, expected true or false"));
  // A treatment of that name is none of ours.
  EXPECT_THAT(factors_of("[factors]\nrandomize = [true, false]\n[[program]]\nrun = [\"./a\", \"{randomize}\"]\n"),
              ElementsAre("randomize"));
}

TEST(ShortPlan, EachMachineWouldChooseAnotherEpoch) {
  const std::string machines = "[machines]\ncount = 2\n";
  EXPECT_THAT(factors_of(of("randomize = true\n", kProgram, machines)),
              ElementsAre("opt", "code=shuffle", "stack=on", "heap=page", "epoch=20ms"));
  EXPECT_THAT(errors_of(of("code = [\"shuffle\"]\nepoch = [\"auto\"]\n", kProgram, machines)),
              HasSubstr("epoch = [\"auto\"] and [machines]: each machine would choose another one"));
  EXPECT_THAT(errors_of(of("code = [\"shuffle\"]\nepoch = [\"auto\", \"1s\"]\n")),
              HasSubstr("epoch = [\"auto\"] next to other epochs"));
}

TEST(ShortPlan, RandomizeContradictsFactorsOfItsOwn) {
  EXPECT_THAT(errors_of(of("randomize = true\ncode = [\"off\", \"shuffle\"]\n")),
              HasSubstr("'randomize' turns code, stack and heap on, and the plan says itself what of them is on"));
}

TEST(ShortPlan, NamesComeFromFiles) {
  EXPECT_EQ(name_of_file("/a/b/lua-5.4.toml"), "lua-5.4");
  EXPECT_EQ(name_of_file("-x y.toml"), "x_y");
  EXPECT_EQ(name_of_file("2024.toml"), "plan-2024");
  EXPECT_EQ(name_of_file("/"), "");
  EXPECT_EQ(name_of_file("???.toml"), "");
  EXPECT_THAT(errors_of(of(), "???.toml"), HasSubstr("[experiment] has no 'name'"));
  const std::string twice = "[[program]]\nrun = [\"./bench\", \"1\"]\n[[program]]\nrun = [\"./bench\", \"{opt}\"]\n";
  EXPECT_THAT(errors_of(of("", twice)), HasSubstr("both are called by what they run: give one a name"));
  const std::string sourced = "[[program]]\nsource = \"lua-5.4.4\"\nbuild = \"make\"\nrun = [\"{opt}\"]\n";
  const Parsed parsed = parse_plan(of("", sourced), "a.toml");
  ASSERT_TRUE(parsed.plan) << toml::render(parsed.errors);
  EXPECT_EQ(parsed.plan->programs[0].name, "lua-5.4.4");
}

// Where looks mean nothing, the number of replicates is still asked for.
TEST(ShortPlan, OtherPlansSayHowManyReplicates) {
  for (const char* tables :
       {"[counters]\nsimulate = \"cachegrind\"\n", "[experiment]\norder = \"random\"\n", "[layout]\nmap = true\n"})
    EXPECT_THAT(errors_of(of("", kProgram, tables)), HasSubstr("has no 'replicates'")) << tables;
}

TEST(ShortPlan, ARunHasFortyLayouts) {
  EXPECT_EQ(epoch_of_run(std::chrono::seconds(4)), milliseconds(100));
  EXPECT_EQ(epoch_of_run(milliseconds(2)), milliseconds(1));
  EXPECT_EQ(epoch_of_run(std::chrono::hours(1)), milliseconds(500));
}

}  // namespace
}  // namespace stab::plan
