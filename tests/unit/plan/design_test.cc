// From factors to cells and builds: crossing, exclusions, nesting, and which binaries are needed.
#include "plan/design.h"

#include <gmock/gmock.h>

#include <set>

#include "plan_fixture.h"

namespace stab::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> cell_names(const std::string& tables) {
  const Result<Design> design = make_design(parsed(small_plan(tables)));
  EXPECT_TRUE(design.ok());
  std::vector<std::string> names;
  if (design)
    for (const Cell& cell : design->cells) names.push_back(cell.name);
  return names;
}

TEST(Design, CrossesFactorsInTheOrderWrittenLastFastest) {
  EXPECT_THAT(cell_names("[factors]\nstack=[\"zero\",\"on\"]\ncode=[\"off\",\"shuffle\"]"),
              ElementsAre("stack=zero code=off", "stack=zero code=shuffle", "stack=on code=off",
                          "stack=on code=shuffle"));
}

TEST(Design, WithoutFactorsThereIsOneCell) { EXPECT_THAT(cell_names(""), ElementsAre("all")); }

TEST(Design, ExcludeLeavesOutMatchingCellsOnly) {
  EXPECT_THAT(cell_names("[factors]\ncode=[\"off\",\"shuffle\",\"pad\"]\nheap=[\"base\",\"page\"]\n"
                         "exclude=[{code=[\"off\",\"pad\"],heap=\"page\"}]"),
              ElementsAre("code=off heap=base", "code=shuffle heap=base", "code=shuffle heap=page",
                          "code=pad heap=base"));
}

TEST(Design, ANestedFactorVariesOnlyWhereItMeansSomething) {
  EXPECT_THAT(cell_names("[factors]\ncode=[\"off\",\"shuffle\"]\nepoch=[\"500ms\",\"1ms\"]\n"
                         "nested=[{factor=\"epoch\",within={code=\"shuffle\"}}]"),
              ElementsAre("code=off epoch=500ms", "code=shuffle epoch=500ms", "code=shuffle epoch=1ms"));
}

TEST(Design, LayoutSwitchesComeFromTheLevels) {
  const Result<Design> design = make_design(parsed(
      small_plan("[factors]\ncode=[\"copy\",\"pad\"]\nstack=[\"recursive\"]\nstack_range=[256]\nheap=[\"shuffle\"]\n"
                 "epoch=[\"20ms\"]\nenv_size=[\"1KiB\"]")));
  ASSERT_TRUE(design.ok());
  const Cell& copy = design->cells[0];
  EXPECT_EQ(copy.layout.code, abi::CodeMode::kCopy);
  EXPECT_EQ(copy.layout.stack, abi::StackMode::kRecursive);
  EXPECT_EQ(copy.layout.stack_range_bytes, 256u);
  EXPECT_EQ(copy.layout.heap, abi::HeapMode::kShuffle);
  EXPECT_EQ(copy.layout.epoch_ns, 20'000'000u);
  EXPECT_EQ(copy.layout.env_size_bytes, 1024u);
  EXPECT_TRUE(copy.fixed_code);
  EXPECT_FALSE(design->cells[1].fixed_code);
  EXPECT_EQ(design->find("code=pad stack=recursive stack_range=256 heap=shuffle epoch=20ms env_size=1KiB"), 1);
  EXPECT_EQ(design->find("code=pad"), -1);
}

TEST(Design, AbsentFactorsAreOff) {
  const Result<Design> design = make_design(parsed(small_plan("")));
  ASSERT_TRUE(design.ok());
  EXPECT_EQ(design->cells[0].layout.code, abi::CodeMode::kOff);
  EXPECT_EQ(design->cells[0].layout.heap, abi::HeapMode::kOff);
  EXPECT_EQ(design->cells[0].layout.epoch_ns, abi::kDefaultEpochNs);
  EXPECT_EQ(design->cells[0].layout.stack_range_bytes, 4096u);
}

TEST(Design, TellsWhichEffectsAreGone) {
  const std::string confounded =
      "[factors]\ncode=[\"off\",\"shuffle\"]\nheap=[\"base\",\"page\"]\nstack=[\"zero\",\"on\"]\n"
      "exclude=[{code=\"off\",heap=\"page\"},{code=\"shuffle\",heap=\"base\"}]";
  const Result<Design> design = make_design(parsed(small_plan(confounded)));
  ASSERT_TRUE(design.ok());
  EXPECT_THAT(design->together, ElementsAre("code", "heap"));
  EXPECT_THAT(design->not_estimable, IsEmpty());
  EXPECT_NE(warnings_of(small_plan(confounded)).find("'code', 'heap' change together in the cells that are left"),
            std::string::npos);
  // Plain, or everything on: nobody wonders which of them it was.
  const std::string switched =
      "[factors]\ncode=[\"off\",\"shuffle\"]\nheap=[\"off\",\"page\"]\nstack=[\"off\",\"on\"]\n"
      "exclude=[{code=\"off\",heap=\"page\"},{code=\"shuffle\",heap=\"off\"},{code=\"off\",stack=\"on\"},{code=\"shuffle\",stack="
      "\"off\"}]";
  EXPECT_EQ(warnings_of(small_plan(switched)), "");
  // With a treatment nothing tells what is the layout's.
  const std::string treated =
      "[factors]\ncode=[\"off\",\"shuffle\"]\nopt=[\"1\",\"2\"]\nexclude=[{code=\"off\",opt=\"2\"},{code=\"shuffle\",opt=\"1\"}]";
  EXPECT_NE(warnings_of(small_plan(treated)).find("can't tell the effect of 'opt'"), std::string::npos);
  const Result<Design> full = make_design(parsed(small_plan("[factors]\ncode=[\"off\",\"shuffle\"]")));
  EXPECT_THAT(full->not_estimable, IsEmpty());
}

TEST(Design, RefusesMoreCellsThanAnybodyWillRun) {
  std::string tables = "[factors]\n";
  for (int f = 0; f < 17; ++f) tables += "f" + std::to_string(f) + "=[1,2]\n";
  EXPECT_NE(errors_of(small_plan(tables)).find("more than 100000 cells"), std::string::npos);
}

constexpr char kBuilds[] =
    "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n"
    "[factors]\ncode=[\"off\",\"shuffle\"]\nopt=[\"-O2\",\"-O3\"]\nn=[1,2]\n%s\n"
    "[[program]]\nname=\"p\"\nbuild=\"make F={opt}\"\nrun=[\"./p\",\"{n}\"]\n";

std::string builds_plan(const char* link) {
  std::string text = kBuilds;
  return text.replace(text.find("%s"), 2, link);
}

TEST(Builds, OnlyTheLevelsABuildNamesTellBuildsApart) {
  const Plan plan = parsed(builds_plan(""));
  const Result<Design> design = make_design(plan);
  ASSERT_EQ(design->cells.size(), 8u);
  const BuildSet builds = make_builds(plan, *design);
  ASSERT_EQ(builds.all().size(), 2u);
  EXPECT_EQ(builds.all()[0].name, "p opt=-O2");
  EXPECT_THAT(builds.all()[1].command.argv, ElementsAre("make", "F=-O3"));
  for (const Cell& cell : design->cells) {
    const Build& build = builds.all()[static_cast<size_t>(builds.of(0, cell.index, 0))];
    EXPECT_NE(cell.name.find(build.name.substr(2)), std::string::npos) << cell.name << " / " << build.name;
  }
}

TEST(Builds, AreStrictAboutTheFactorsThatAreOnInACellOfTheirs) {
  const char* text = "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n"
                     "[factors]\ncode=[\"off\",\"shuffle\"]\nheap=[\"off\",\"page\"]\nway=[\"plain\",\"szc\"]\n"
                     "exclude=[{way=\"plain\",code=\"shuffle\"},{way=\"plain\",heap=\"page\"}]\n"
                     "[[program]]\nname=\"p\"\nbuild=\"make {way}\"\nrun=[\"./p-{way}\",\"1\"]\n";
  const Plan plan = parsed(text);
  const Result<Design> design = make_design(plan);
  ASSERT_TRUE(design) << design.error().text();
  const BuildSet builds = make_builds(plan, *design);
  ASSERT_EQ(builds.all().size(), 2u);
  EXPECT_EQ(builds.all()[0].strict, "");
  EXPECT_EQ(builds.all()[0].measured, "p-plain");
  EXPECT_EQ(builds.all()[1].strict, "heap,code");
  EXPECT_EQ(builds.all()[1].measured, "p-szc");
}

TEST(Builds, CellsOfFixedCodeAreLinkedOncePerSeed) {
  const Plan plan = parsed(builds_plan("link={seeds=3}"));
  const Result<Design> design = make_design(plan);
  const BuildSet builds = make_builds(plan, *design);
  EXPECT_EQ(builds.all().size(), 2u * 3 + 2);  // 2 opts x 3 links for code=off, 2 opts for code=shuffle
  std::set<uint32_t> seeds;
  for (const Build& build : builds.all()) {
    EXPECT_EQ(build.link_seed == 0, build.link == 0);
    if (build.link > 0) seeds.insert(build.link_seed);
  }
  EXPECT_EQ(seeds.size(), 3u);
  const int off = design->find("code=off opt=-O2 n=1"), moved = design->find("code=shuffle opt=-O2 n=1");
  EXPECT_NE(builds.of(0, off, 1), builds.of(0, off, 2));
  EXPECT_EQ(builds.of(0, off, 0), -1);
  EXPECT_EQ(builds.of(0, moved, 1), -1);
  EXPECT_GE(builds.of(0, moved, 0), 0);
}

TEST(Substitute, ReplacesFactorsAndUndoesBraces) {
  const Plan plan = parsed(builds_plan("link={seeds=3}"));
  const Result<Design> design = make_design(plan);
  const Cell& cell = design->cells[static_cast<size_t>(design->find("code=off opt=-O3 n=2"))];
  EXPECT_EQ(substitute("a{opt}b{n}{{x}}", plan, cell, 0), "a-O3b2{x}");
  EXPECT_EQ(substitute("{link}", plan, cell, 0), "0");
  EXPECT_EQ(substitute("{link}", plan, cell, 2), std::to_string(link_seed(plan, 2)));
}

}  // namespace
}  // namespace stab::plan
