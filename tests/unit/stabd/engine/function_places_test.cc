// Which functions are looked at by `stabctl explain`. Whole searches are in tests/e2e/explain_test and tests/explain.
#include "stabd/engine/results/function_places.h"

#include <gtest/gtest.h>

namespace stab::engine {
namespace {

TEST(FunctionPlacesTest, OfFewSamplesOneMayMeanHalfAPercent) {
  // A run of 0.12 s has 120 samples, and three of them are taken. Where it lies well a function of 1 % may have one of them.
  EXPECT_TRUE(may_be_busy(1, 360));
  EXPECT_FALSE(may_be_busy(0, 360));
}

TEST(FunctionPlacesTest, OfManySamplesTheShareIsKnown) {
  EXPECT_FALSE(may_be_busy(1, 100'000));
  EXPECT_FALSE(may_be_busy(440, 100'000));
  EXPECT_TRUE(may_be_busy(500, 100'000));
}

TEST(FunctionPlacesTest, WithoutSamplesNothingIsBusy) { EXPECT_FALSE(may_be_busy(0, 0)); }

ListedBuild build_of(std::vector<ListedFunction> functions) {
  ListedBuild out;
  for (ListedFunction& function : functions) {
    out.samples += function.samples;
    out.add(std::move(function));
  }
  return out;
}

TEST(FunctionPlacesTest, ANameThatSeveralHaveIsNobodys) {
  const ListedBuild build = build_of({{0x5000, 32, "one", true, 0}, {0x6000, 32, "init", true, 0}, {0x7000, 64, "init", true, 0},
                                      {0x8000, 16, "last", true, 0}, {0x9000, 96, "init", true, 0}});
  ASSERT_NE(build.find("last"), nullptr);
  EXPECT_EQ(build.find("last")->linked, 0x8000u);
  EXPECT_EQ(build.find("init"), nullptr);
  EXPECT_EQ(build.find("nobody"), nullptr);
}

// `right` collides with `left`, and three short runs sampled neither: made case 047, and 063 with one sample of `right`.
TEST(FunctionPlacesTest, QuietFunctionsAreLookedAtOrKeptWhereTheyAre) {
  const ListedBuild older = build_of({{0x5c000, 32544, "left", true, 0}, {0x64000, 28700, "right", true, 0},
                                      {0x6b010, 180, "chain0", true, 400}});
  const ListedBuild newer = build_of({{0x5c000, 32544, "left", true, 0}, {0x64040, 28700, "right", true, 0},
                                      {0x6b050, 180, "chain0", true, 390}});
  const SharedFunctions shared = functions_of_both(older, newer, 24);
  ASSERT_EQ(shared.moved.size(), 2u);
  EXPECT_EQ(shared.moved[0].name, "chain0");
  EXPECT_EQ(shared.moved[1].name, "right");
  EXPECT_NE(script_of_places(shared).find("place left mod 4096 0\n"), std::string::npos) << script_of_places(shared);
}

}  // namespace
}  // namespace stab::engine
