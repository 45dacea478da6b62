// [layout.verification]: the plan that compares builds with and without layout files.
#include "plan/verification_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "plan/design.h"
#include "plan/schedule.h"
#include "tests/unit/plan/plan_fixture.h"

namespace stab::plan {
namespace {

using testing::HasSubstr;

constexpr char kVerified[] = R"([experiment]
name = "t"
series = "nightly"
seed = 7
[factors]
code = ["once", "shuffle"]
stack = ["off", "on"]
opt = ["-O2", "-O3"]
exclude = [{ code = "once", stack = "on" }]
[layout]
map = true
epoch = "5ms"
[stopping]
rule = "precision"
half_width = "1%"
first = 5
max = 9
[[program]]
name = "p"
build = "szc {opt} p.c -o p"
run = ["./p"]
[[program.workload]]
name = "a"
args = ["1"]
[[program.workload]]
name = "b"
args = ["2"]
)";

constexpr char kFile[] = "stab-layout 1\nprogram p\nworkload p/b\ncpu any\nmeasured 5 \"%\"\nplace f mod 64 at 16\n";

LayoutVerification verification() {
  LayoutVerification out;
  out.of = "t";
  out.workload = "p/b";
  out.links = 4;
  out.runs = 3;
  out.levels = {{"opt", "-O3"}};
  out.arms = {{"advised", kFile}, {"slow", std::string(kFile) + "place g mod 64 at 32\n"}};
  return out;
}

Plan verified(const LayoutVerification& how) { return parsed(verification_text(parsed(kVerified), "t", how)); }

std::vector<std::string> names(const Factor& factor) {
  std::vector<std::string> out;
  for (const Level& level : factor.levels) out.push_back(level.name);
  return out;
}

TEST(LayoutVerificationPlan, CrossesFilesWithCodeThatStaysAndMoves) {
  const Plan plan = verified(verification());
  EXPECT_EQ(plan.experiment.name, "t-verify");
  EXPECT_EQ(plan.experiment.series, "");
  EXPECT_NE(plan.experiment.seed, 7u);
  EXPECT_EQ(plan.experiment.replicates, 15) << "3 runs of 4 random links and of the one as it is linked";
  EXPECT_EQ(plan.stopping.rule, StoppingRule::kFixed);
  EXPECT_FALSE(plan.experiment.record_epochs);
  EXPECT_EQ(names(factor(plan, "code")), (std::vector<std::string>{"off", "shuffle"}));
  EXPECT_EQ(names(factor(plan, "stack")), std::vector<std::string>{"on"});
  EXPECT_EQ(names(factor(plan, "opt")), std::vector<std::string>{"-O3"});
  EXPECT_EQ(names(factor(plan, kArmFactor)), (std::vector<std::string>{"plain", "advised", "slow"}));
  ASSERT_EQ(plan.programs.size(), 1u);
  ASSERT_EQ(plan.programs[0].workloads.size(), 1u);
  EXPECT_EQ(plan.programs[0].workloads[0].name, "b");
  const auto design = make_design(plan);
  ASSERT_TRUE(design);
  EXPECT_EQ(design->cells.size(), 6u);
}

TEST(LayoutVerificationPlan, AnotherDrawHasOtherLinks) {
  LayoutVerification how = verification();
  const uint64_t first = verified(how).experiment.seed;
  how.draw = 2;
  const Plan second = verified(how);
  EXPECT_EQ(second.layout.verification->draw, 2);
  EXPECT_NE(second.experiment.seed, first);
  how.draw = 1;
  EXPECT_EQ(verified(how).experiment.seed, first);
  how.draw = 0;
  EXPECT_THAT(errors_of(verification_text(parsed(kVerified), "t", how)), HasSubstr("'draw' is 0, expected 1 to 1000"));
}

TEST(LayoutVerificationPlan, EachArmIsBuiltByItsFileInEachLink) {
  const Plan plan = verified(verification());
  const auto design = make_design(plan);
  const BuildSet builds = make_builds(plan, *design);
  std::map<std::string, std::set<int>> links;
  for (const Build& build : builds.all()) {
    links[build.layout_file].insert(build.link);
    EXPECT_EQ(build.link_seed == 0, build.link == 0);
  }
  ASSERT_EQ(links.size(), 3u);
  EXPECT_TRUE(links.count(""));
  EXPECT_TRUE(links.count(kFile)) << "quotes and lines of the file come through";
  for (const auto& [file, of] : links) EXPECT_EQ(of, (std::set<int>{0, 1, 2, 3, 4}));
  std::set<std::string> said;
  for (const Build& build : builds.all()) EXPECT_TRUE(said.insert(build.name).second) << build.name;
  EXPECT_TRUE(said.count("p opt=-O3 layout-file=advised link=2"));
}

TEST(LayoutVerificationPlan, RunsEachLinkAsOften) {
  const Plan plan = verified(verification());
  const auto design = make_design(plan);
  std::map<std::pair<uint32_t, uint16_t>, int> runs;
  for (const PlannedTrial& trial : make_schedule(plan, *design).trials) ++runs[{trial.cell, trial.link}];
  for (const Cell& cell : design->cells) {
    const auto c = static_cast<uint32_t>(cell.index);
    if (!cell.fixed_code) {
      EXPECT_EQ((runs[{c, 0}]), 15);
      continue;
    }
    for (uint16_t link = 0; link <= 4; ++link) EXPECT_EQ((runs[{c, link}]), 3) << "link " << link;
  }
}

// Layouts that last for a time have none in a simulation.
TEST(LayoutVerificationPlan, SimulatesInsteadOfTiming) {
  LayoutVerification how = verification();
  how.simulate = true;
  const Plan plan = verified(how);
  ASSERT_EQ(plan.experiment.responses.size(), 1u);
  EXPECT_EQ(plan.experiment.responses[0].name, "simulated_cost");
  EXPECT_TRUE(plan.counters.simulation.on());
  EXPECT_EQ(plan.factor_index("epoch"), -1);
  EXPECT_EQ(names(factor(plan, "code")), (std::vector<std::string>{"off", "once"}));
}

TEST(LayoutVerificationPlan, IsRefusedWhereItCantBe) {
  LayoutVerification how = verification();
  how.workload = "p/c";
  EXPECT_THAT(errors_of(verification_text(parsed(kVerified), "t", how)), HasSubstr("no workload 'p/c'"));
  how = verification();
  how.levels = {{"opt", "-O1"}};
  EXPECT_THAT(errors_of(verification_text(parsed(kVerified), "t", how)), HasSubstr("no level '-O1'"));
  how = verification();
  how.arms[1].name = "advised";
  EXPECT_THAT(errors_of(verification_text(parsed(kVerified), "t", how)), HasSubstr("is there twice"));
  how = verification();
  how.arms[0].text = "stab-layout 1\nprogram p\ncpu any\nplace f mod 65 at 0\n";
  EXPECT_THAT(errors_of(verification_text(parsed(kVerified), "t", how)), HasSubstr("no power of two"));
  how = verification();
  how.arms.clear();
  EXPECT_THAT(errors_of(verification_text(parsed(kVerified), "t", how)), HasSubstr("no layout file"));
  std::string unbuilt = kVerified;
  unbuilt.replace(unbuilt.find("build = "), unbuilt.find("run = ") - unbuilt.find("build = "), "");
  EXPECT_THAT(errors_of(verification_text(parsed(unbuilt), "t", verification())), HasSubstr("build"));
}

}  // namespace
}  // namespace stab::plan
