// [layout]: what a map's plan becomes, what its confirmation is, and what their trials' helpers are told.
#include <gtest/gtest.h>

#include "base/like.h"
#include "plan/design.h"
#include "plan/layout_confirmation.h"
#include "tests/unit/plan/plan_fixture.h"

namespace stab::plan {
namespace {

constexpr char kMapped[] = R"([experiment]
name = "t"
series = "nightly"
seed = 7
replicates = 5
[factors]
code = ["off", "shuffle"]
stack = ["off", "on"]
exclude = [{ code = "off", stack = "on" }]
[layout]
map = true
epoch = "5ms"
progress = ["block", "function:f"]
[[program]]
name = "p"
run = ["p"])";

TEST(LayoutMapping, KeepsWhatAMapNeeds) {
  const Plan plan = parsed(kMapped);
  EXPECT_TRUE(plan.experiment.record_epochs);
  EXPECT_TRUE(plan.experiment.record_samples);
  EXPECT_EQ(factor(plan, "epoch").levels[0].value, "5000000");
  EXPECT_EQ(plan.layout.confirm, 12);
  EXPECT_EQ(mapping_script(plan.layout, "p", 0, abi::CodeMode::kShuffle, {}, ""), "stab-script 1 any\ncount f\n");
  EXPECT_EQ(mapping_script(plan.layout, "p", 0, abi::CodeMode::kShuffle, {"f", "g"}, ""),
            "stab-script 1 any\ncount f\ncount g\n");
  EXPECT_EQ(mapping_script(plan.layout, "p", 0, abi::CodeMode::kOff, {"g"}, ""), "");
}

TEST(LayoutMapping, EachTrialHasLayoutsOfItsOwn) {
  std::string text = kMapped;
  text.replace(text.find("replicates = 5"), 14, "replicates = 5\nruns_per_seed = 2");
  const std::string refusal = render(parse_plan(text, "t.toml").errors);
  EXPECT_NE(refusal.find("with runs_per_seed = 2 the trials of one seed have the same ones"), std::string::npos) << refusal;
  EXPECT_TRUE(parse_plan(text, "t.toml", {.stored = true}).plan.has_value()) << "one that was accepted once is";
}

TEST(LayoutMapping, LongLoopsNeedLayoutsThatTheyAreLedTo) {
  const auto plan_of = [](const std::string& code, const std::string& rest) {
    return "[experiment]\nname = \"t\"\nseed = 1\nreplicates = 5\n[factors]\ncode = [" + code +
           "]\n[layout]\nlong_loops = true\n" + rest + "[[program]]\nname = \"p\"\nrun = [\"p\"]\n";
  };
  EXPECT_FALSE(parsed(kMapped).layout.long_loops);
  const Plan plan = parsed(plan_of("\"off\", \"shuffle\"", ""));
  EXPECT_TRUE(plan.layout.long_loops);
  EXPECT_FALSE(plan.layout.map);
  EXPECT_FALSE(plan.experiment.record_epochs);
  EXPECT_NE(errors_of(plan_of("\"off\", \"once\"", "")).find("no cell of this plan has a next one"), std::string::npos);
  EXPECT_NE(errors_of(plan_of("\"shuffle\"", "[counters]\nsimulate = \"cachegrind\"\n")).find("are simulated"),
            std::string::npos);
}

TEST(LayoutMapping, ConfirmationIsThePlanWithForcedPlacesAndOtherSeeds) {
  const Plan plan = parsed(kMapped);
  const MappedBuild build{"p",
                          0,
                          "0xabc",
                          {{"start mod 64", "f", "", 0x401130, 0, 2, 0},
                           {"start mod 32", "g<\"x\">", "", 0x401230, 0, 1, 0},
                           {"same sets", "f", "h", 0x401130, 0x401330, 1, 0}}};
  const Plan again = parsed(confirmation_text(plan, {"a \"b\"", 1763820000123456789, 0}, {build}));
  EXPECT_EQ(again.experiment.name, "t-confirm");
  EXPECT_EQ(again.experiment.series, "");
  EXPECT_NE(again.experiment.seed, plan.experiment.seed);
  EXPECT_FALSE(again.layout.map);
  EXPECT_EQ(again.layout.confirms, (ScreenKey{"a \"b\"", 1763820000123456789, 0}));
  // Levels keep their names: exclude knows them by these.
  ASSERT_EQ(factor(again, "code").levels.size(), 1u);
  EXPECT_EQ(factor(again, "code").levels[0].name, "shuffle");
  EXPECT_EQ(factor(again, "code").levels[0].value, "design");
  ASSERT_EQ(again.layout.measured.size(), 1u);
  const MappedBuild& read = again.layout.measured[0];
  ASSERT_EQ(read.places.size(), 3u);
  EXPECT_EQ(read.places[1].function, "g<\"x\">");
  EXPECT_EQ(read.places[2].other_linked, 0x401330u);
  EXPECT_EQ(read.places[0].slowest, 2);
  // Pairs come as they are drawn; a function is placed once.
  EXPECT_EQ(mapping_script(again.layout, "p", 0, abi::CodeMode::kDesign, {}, ""),
            "stab-script 1 0xabc\ncount f\nplace 0x401130 mod 64 0 16 32 48\nplace 0x401230 mod 64 0 16 32 48\n");
  EXPECT_EQ(mapping_script(again.layout, "other", 0, abi::CodeMode::kDesign, {}, ""), "stab-script 1 any\ncount f\n");
}

// A library stays that a script says nothing of, so that what is drawn of it is drawn among forced places, too.
TEST(LayoutMapping, FunctionsOfLibrariesAreForcedByTheirFile) {
  const Plan plan = parsed(kMapped);
  EXPECT_FALSE(plan.layout.measured.size() > 0);
  const MappedBuild build{"p",
                          0,
                          "0xabc",
                          {{"crosses a page", "libf.so.1!f", "", 0x1130, 0, 1, 0},
                           {"same sets", "own", "libf.so.1!g", 0x401130, 0x1330, 1, 0},
                           {"start mod 64", "libf.so.1!f", "", 0x1130, 0, 2, 0},
                           {"start mod 64", "own_too", "", 0x1130, 0, 2, 0}}};
  const Plan again = parsed(confirmation_text(plan, {"t", 1763820000123456789, 0}, {build}));
  ASSERT_EQ(again.layout.measured.size(), 1u);
  const MappedBuild& read = again.layout.measured[0];
  ASSERT_EQ(read.places.size(), 4u);
  EXPECT_EQ(library_of(read.places[0].function), "libf.so.1");
  EXPECT_EQ(library_of(read.places[1].function), "");
  EXPECT_EQ(library_of(read.places[1].other), "libf.so.1");
  EXPECT_TRUE(again.experiment.record_samples);
  EXPECT_EQ(mapping_script(again.layout, "p", 0, abi::CodeMode::kDesign, {}, ""),
            "stab-script 1 0xabc\ncount f\nplace libf.so.1!0x1130 mod 64 0 16 32 48\nplace libf.so.1!0x1330 mod 64 0 16 32 48\n"
            "place 0x1130 mod 64 0 16 32 48\n");
}

// Code that stays has no cell there, and so none of its links.
TEST(LayoutMapping, ABuildIsFoundAgainAmongThoseOfTheConfirmation) {
  const Plan plan = parsed(R"([experiment]
name = "t"
seed = 7
replicates = 5
[factors]
code = ["off", "shuffle"]
opt = ["-O2", "-O3"]
exclude = [{ code = "off", opt = "-O2" }]
link = { seeds = 2 }
[layout]
map = true
[[program]]
name = "p"
build = ["szc", "{opt}", "p.c"]
source = "p"
run = ["p"])");
  const Plan again = parsed(confirmation_text(plan, {"t", 1, 0}, {}));
  const Result<Design> screened = make_design(plan), fresh = make_design(again);
  ASSERT_TRUE(screened.ok() && fresh.ok());
  const BuildSet before = make_builds(plan, *screened), after = make_builds(again, *fresh);
  ASSERT_EQ(before.all().size(), 4u);
  ASSERT_EQ(after.all().size(), 2u);
  int found = 0;
  for (const Build& build : before.all()) {
    const int number = after.same_as(build);
    EXPECT_EQ(number >= 0, build.link == 0) << build.name;
    if (number < 0) continue;
    ++found;
    EXPECT_EQ(after.all()[static_cast<size_t>(number)].command.argv, build.command.argv);
    EXPECT_NE(number, build.index) << "nothing is shown";
  }
  EXPECT_EQ(found, 2);
}

TEST(LayoutMapping, PatternsAreLike) {
  EXPECT_TRUE(is_like("luaV_execute", "lua%"));
  EXPECT_TRUE(is_like("luaV_execute", "%V_%te"));
  EXPECT_TRUE(is_like("f", "f"));
  EXPECT_TRUE(is_like("", "%"));
  EXPECT_FALSE(is_like("luaV_execute", "V%"));
  EXPECT_FALSE(is_like("aab", "%ab_"));
  EXPECT_TRUE(is_like("aaab", "%ab"));
}

}  // namespace
}  // namespace stab::plan
