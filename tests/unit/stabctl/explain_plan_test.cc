// Plans of explain: they are plans, and of a file with several workloads they have one, with all that its file says of it.
#include "stabctl/explain/explain_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <variant>

#include "plan/parse.h"
#include "plan/toml/toml_reader.h"
#include "plan/toml/toml_text.h"
#include "stabctl/plan/workload_text.h"

namespace stab::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

plan::Plan parsed(const std::string& text) {
  plan::Parsed parsed = plan::parse_plan(text, "a test", {});
  EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors) << text;
  return parsed.plan ? *std::move(parsed.plan) : plan::Plan();
}

constexpr char kThree[] = R"([[program]]
name = "small"
build = ["make", "{revision}"]  # [[program]]
run = ["./small"]
[[program.workload]]
name = "one"
[analysis]
estimators = ["median"]
[limits]
memory = "1GiB"
[[program]]
name = "large"
build = ["make", "{revision}"]
env = { SIZE = "[[program]]" }
[[program.workload]]
name = "two"
run = ["./large", "2"]
[[program.workload]]
name = "three"
run = ["./large", "3"]
[program.workload.env]
DEPTH = "3"
)";
// The same of one workload, written otherwise.
constexpr char kInline[] = R"(limits = { memory = "1GiB" }
program = [
  # é
  { name = "large", build = ["make", "{revision}"], workload = [
    { name = "three", run = ["./large", "3"] },
  ] },
]
)";
constexpr char kExperiment[] = "[experiment]\nname = \"gate\"\nseed = 1\nreplicates = 10\n[factors]\nrevision = [\"a\", \"b\"]\n";

TEST(WorkloadText, HasOneWorkloadAndItsLinesWhereTheyWere) {
  const std::string text = std::string(kThree) + kExperiment;
  const plan::Plan whole = parsed(text);
  for (const std::string name : {"small/one", "large/two", "large/three"}) {
    const auto chosen = chosen_workload(whole, name, "it");
    ASSERT_TRUE(chosen) << name;
    const auto one = text_of_workload(text, whole, *chosen);
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(std::count(one->begin(), one->end(), '\n'), std::count(text.begin(), text.end(), '\n'));
    const plan::Plan plan = parsed(*one + kExperiment);
    ASSERT_EQ(plan::subjects(plan).size(), 1u) << *one;
    EXPECT_EQ(plan::subjects(plan)[0].name, name);
    EXPECT_EQ(plan.limits.memory_bytes, 1u << 30);
    EXPECT_TRUE(plan.analysis.estimators.empty());
    const plan::Workload& workload = plan.programs[0].workloads[0];
    EXPECT_EQ(workload.env.count("SIZE"), name[0] == 'l');
    EXPECT_EQ(workload.env.count("DEPTH"), name == "large/three");
    EXPECT_EQ(workload.run.argv.size(), name[0] == 'l' ? 2u : 1u);
  }
}

TEST(WorkloadText, SaysWhichWorkloadsThereAre) {
  const plan::Plan whole = parsed(std::string(kThree) + kExperiment);
  const auto none = chosen_workload(whole, "", "stab-gate.toml");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("stab-gate.toml has 3 workloads"));
  EXPECT_THAT(none.error().message, HasSubstr("small/one, large/two, large/three"));
  const auto wrong = chosen_workload(whole, "large/tow", "stab-gate.toml");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("did you mean 'large/two'?"));
}

// Two workloads on one line.
TEST(WorkloadText, RefusesWhatItCantTakeApart) {
  const std::string text =
      "program = [{ name = \"a\", build = \"make {revision}\", workload = [{ name = \"x\", run = [\"./a\"] }, "
      "{ name = \"y\", run = [\"./a\"] }] }]\n";
  const plan::Plan whole = parsed(text + kExperiment);
  const auto one = text_of_workload(text + kExperiment, whole, plan::subjects(whole)[1]);
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().message, HasSubstr("write it as [[program]]"));
}

TEST(ExplainPlan, ScriptsAreTheProgramsHoweverItIsWritten) {
  const std::string script = "stab-script 1 0x1234\nrest still\nplace \"a b\" mod 4096 16 32\n";
  for (const std::string text : {kThree, kInline}) {
    const plan::Plan whole = parsed(text + kExperiment);
    for (const plan::Subject& subject : plan::subjects(whole)) {
      const auto one = text_of_workload(text + kExperiment, whole, subject);
      ASSERT_TRUE(one) << one.error().message;
      const auto with = with_layout_script(*one, script);
      ASSERT_TRUE(with) << with.error().message;
      const auto tree = toml::read_toml(*with, "a test");
      ASSERT_TRUE(std::holds_alternative<toml::TomlNode>(tree)) << *with;
      EXPECT_THAT(*with, HasSubstr("layout_script = " + toml::toml_text(script)));
      ExplainedBuilds builds;
      builds.name = "x";
      builds.factor = "revision";
      builds.old_level = level_text("old", "a");
      builds.new_level = level_text("new", "b");
      builds.text = *one;
      const auto places = places_plan(builds, "stab-script 1 0x1234\nrest still\nplace f mod 4096 16 32\n", 9);
      ASSERT_TRUE(places);
      const plan::Plan plan = parsed(*places);
      ASSERT_EQ(plan.programs.size(), 1u);
      EXPECT_THAT(plan.programs[0].layout_script, HasSubstr("place f mod 4096 16 32"));
    }
  }
}

// A folder `sort` must not change what `-- sort` asks of a program; it does where it is written as a path.
TEST(ExplainPlan, BareNamesOfFoldersStayAndFilesBecomeWholePaths) {
  const std::string before = std::filesystem::current_path().string();
  std::filesystem::create_directories(::testing::TempDir() + "words/sort");
  std::filesystem::current_path(::testing::TempDir() + "words");
  std::ofstream("input.dat") << "1\n";
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(*passed_word("sort"), "sort");
  EXPECT_EQ(*passed_word("./sort"), here + "/sort");
  EXPECT_EQ(*passed_word("input.dat"), here + "/input.dat");
  EXPECT_EQ(*passed_word("-x"), "-x");
  EXPECT_EQ(*passed_word("20"), "20");
  EXPECT_TRUE(is_folders_name("sort"));
  EXPECT_FALSE(is_folders_name("input.dat"));
  std::filesystem::current_path(before);
}

TEST(ExplainPlan, OfTwoProgramsRunsTheWordsThatWereTyped) {
  const auto made = builds_of_programs("/x/{new}", "/tmp/a/old", "/tmp/a/new", {"-x", "{}", "a b"});
  ASSERT_TRUE(made) << made.error().message;
  const ExplainedBuilds& builds = *made;
  const plan::Plan cause = parsed(cause_plan(builds, 10, PointersLead::kToOriginals));
  EXPECT_THAT(cause.programs[0].workloads[0].run.argv, ElementsAre("./_new_", "-x", "{{}}", "a b"));
  EXPECT_EQ(cause.factors[0].name, "build");
  EXPECT_EQ(cause.factors[1].name, "code");
  EXPECT_EQ(cause.factors[0].levels[1].value, "/tmp/a/new");
  const auto codes = [](const plan::Plan& plan) {
    std::vector<std::string> out;
    for (const plan::Level& level : plan.factors[1].levels) out.push_back(level.value);
    return out;
  };
  EXPECT_THAT(codes(cause), ElementsAre("off", "once"));
  EXPECT_THAT(codes(parsed(cause_plan(builds, 10, PointersLead::kToCopies))), ElementsAre("off", "direct"));
  const plan::Plan profile = parsed(profile_plan(builds));
  EXPECT_TRUE(profile.experiment.record_samples);
  EXPECT_THAT(codes(profile), ElementsAre("copy"));
  EXPECT_THAT(codes(parsed(count_plan(builds, PointersLead::kToOriginals))), ElementsAre("copy"));
  EXPECT_THAT(codes(parsed(count_plan(builds, PointersLead::kToCopies))), ElementsAre("direct"));
  EXPECT_EQ(cause.experiment.blocks, plan::BlockMode::kSliced);
}

// A run may use up what --prepare has made in the folder of all of them.
TEST(ExplainPlan, RunsThatSharePreparedFoldersFollowEachOther) {
  auto made = builds_of_programs("/x/new", "/tmp/a/old", "/tmp/a/new", {});
  ASSERT_TRUE(made) << made.error().message;
  made->share_prepared_folder = true;
  const auto places = places_plan(*made, "stab-script 1 0x1234\nrest still\nplace f mod 4096 16 32\n", 9);
  ASSERT_TRUE(places);
  const plan::Plan cause = parsed(cause_plan(*made, 10, PointersLead::kToOriginals));
  EXPECT_EQ(cause.experiment.layouts, plan::Layouts::kMatched);
  for (const plan::Plan& plan : {cause, parsed(*places)}) {
    EXPECT_EQ(plan.experiment.blocks, plan::BlockMode::kInTurn);
    EXPECT_TRUE(plan.has_response("cpu_time"));
  }
}

// A timeout of a file's is meant for runs that take a fiftieth of the time.
TEST(ExplainPlan, ASimulatorIsAskedTheSameOfTheSameRuns) {
  const std::string timeout = "timeout = \"20s\"\n";
  const std::string three = std::string(kThree) + "timeout = \"30s\"\n";
  const std::string own = std::string("[[program]]\nname = \"a\"\n") + timeout + "build = \"make {revision}\"\nrun = [\"./a\"]\n";
  for (const std::string& text : {std::string(kThree), three, own, std::string(kInline)}) {
    const plan::Plan whole = parsed(text + kExperiment);
    const auto one = text_of_workload(text + kExperiment, whole, plan::subjects(whole).back());
    ASSERT_TRUE(one) << one.error().message;
    ExplainedBuilds builds;
    builds.name = "x";
    builds.factor = "revision";
    builds.old_level = level_text("old", "a");
    builds.new_level = level_text("new", "b");
    builds.text = *one;
    for (const auto& [pointers, code] :
         {std::pair{PointersLead::kToOriginals, "once"}, std::pair{PointersLead::kToCopies, "direct"}}) {
      const auto simulated = simulated_plan(builds, 5, pointers);
      ASSERT_TRUE(simulated) << simulated.error().message;
      const plan::Plan plan = parsed(*simulated);
      EXPECT_TRUE(plan.counters.simulation.on());
      EXPECT_EQ(plan.experiment.layouts, plan::Layouts::kMatched);
      EXPECT_TRUE(plan.has_response("simulated_cost"));
      EXPECT_TRUE(plan.has_response("simulated_instructions"));
      ASSERT_EQ(plan.programs.size(), 1u);
      EXPECT_EQ(plan.programs[0].workloads[0].timeout, std::chrono::hours(24)) << *simulated;
      EXPECT_EQ(plan.programs[0].workloads[0].run.argv, parsed(*one + kExperiment).programs[0].workloads[0].run.argv);
      ASSERT_EQ(plan.factors.size(), 2u);
      EXPECT_EQ(plan.factors[1].levels[0].value, "off");
      EXPECT_EQ(plan.factors[1].levels[1].value, code);
    }
  }
  ExplainedBuilds inline_builds;
  inline_builds.text = "program = [{ name = \"a\", timeout = \"1s\", run = [\"./a\"] }]\n";
  const auto refused = simulated_plan(inline_builds, 5, PointersLead::kToOriginals);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("write it on a line of its own"));
}

}  // namespace
}  // namespace stab::ctl
