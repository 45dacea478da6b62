// Which functions are looked at by `stabctl explain`. Whole searches are in tests/e2e/explain_test and tests/explain.
#include "stabd/engine/results/function_places.h"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(FunctionPlacesTest, WhatNeverMovesAndLiesElsewhereIsKnown) {
  const ListedBuild older = build_of({{0x5000, 200, "chain", true, 100}, {0x6010, 64, "wide", false, 300},
                                      {0x6050, 64, "alike", false, 90}, {0x7000, 64, "grown", false, 10},
                                      {0x8000, 64, "quiet", false, 0}});
  const ListedBuild newer = build_of({{0x5000, 200, "chain", true, 100}, {0x6030, 64, "wide", false, 400},
                                      {0x7050, 64, "alike", false, 90}, {0x8010, 96, "grown", false, 10},
                                      {0x9010, 64, "quiet", false, 0}});
  const StillFunctions still = functions_of_both(older, newer, 24).still;
  EXPECT_EQ(still.names, std::vector<std::string>{"wide"});
  EXPECT_NEAR(still.old_share, 0.6, 1e-9);
  EXPECT_NEAR(still.new_share, 400.0 / 600, 1e-9);
  EXPECT_NEAR(still.old_error, std::sqrt(0.6 * 0.4 / 500), 1e-9);
}

TEST(FunctionPlacesTest, TheTimeOfChangedFunctionsIsKnown) {
  ListedBuild older = build_of({{0x5000, 200, "hot", true, 300}, {0x6000, 64, "main", true, 10}, {0x7000, 64, "gone", true, 90}});
  ListedBuild newer = build_of({{0x5000, 200, "hot", true, 380}, {0x6000, 64, "main", true, 20}});
  EXPECT_EQ(share_of_changed(older, newer), 0) << "no bodies are known";
  older.bodies.functions = {{0x5000, {1, 70, "hot"}}, {0x6000, {2, 71, "main"}}, {0x7000, {3, 72, "gone"}}};
  newer.bodies.functions = {{0x5000, {1, 70, "hot"}}, {0x6000, {2, 75, "main"}}};
  EXPECT_NEAR(share_of_changed(older, newer), (0.25 + 0.05) / 2, 1e-9);
}

FunctionProfile profile_of(std::vector<SampledFile> files) {
  FunctionProfile out;
  out.files = std::move(files);
  return out;
}

SampledFile moved_file(const std::string& name, uint64_t hash, std::vector<SampledFile::Function> functions, uint64_t newest) {
  return {name, true, hash, "", 0, newest, 0, 0, std::move(functions)};
}

TEST(LibrarySamplesTest, FunctionsOfSeveralTrialsAreSummedAndTheRestIsItsFiles) {
  LibrarySamples samples;
  for (int trial = 0; trial < 2; ++trial)
    samples.add(profile_of({moved_file("libwork.so", 1, {{"hot", 0x100, 32, 30, 4, 1}, {"", 0x200, 16, 5, 0, 0}}, 50),
                            {"libc.so.6", false, 0, "", 0, 0, 0, 7, {}}}));
  EXPECT_EQ(samples.samples(), 2u * (50 + 7));
  EXPECT_EQ(samples.unmoved(), 14u);
  const std::vector<LibraryFunction> functions = samples.functions();
  ASSERT_EQ(functions.size(), 4u);
  EXPECT_EQ(functions[0].name, "libwork.so!hot");
  EXPECT_EQ(functions[0].samples, 70u);
  EXPECT_EQ(functions[1].name, "libwork.so");
  EXPECT_EQ(functions[1].samples, 20u);
  EXPECT_EQ(functions[2].name, "libc.so.6");
  EXPECT_FALSE(functions[2].moved);
  EXPECT_EQ(functions[3].name, "libwork.so!0x200");
}

ListedBuild build_with(std::vector<SampledFile> files) {
  ListedBuild out;
  out.samples = 1000;
  out.in_libraries.add(profile_of(std::move(files)));
  return out;
}

SampledFile unmoved_file(const std::string& name, uint64_t hash, std::vector<SampledFile::Function> functions, uint64_t samples) {
  return {name, false, hash, "", 0, 0, 0, samples, std::move(functions)};
}

TEST(FunctionPlacesTest, FunctionsOfTwoBuildsOfALibraryArePlacedByTheirAddress) {
  const auto file = [](uint64_t hash, uint64_t hot, uint64_t twin) {
    return moved_file("libwork.so", hash,
                      {{"hot", hot, 32, 600, 0, 0}, {"level", 0x2040, 32, 90, 0, 0}, {"stays", hot + 64, 32, 0, 0, 90},
                       {"twin", twin, 32, 60, 0, 0}, {"twin", twin + 640, 32, 60, 0, 0}},
                      900);
  };
  const ListedBuild older = build_with({file(1, 0x19d0, 0x3000)});
  const SharedFunctions shared = functions_of_both(older, build_with({file(2, 0x1ba0, 0x3100)}), 24);
  ASSERT_EQ(shared.moved.size(), 1u) << "one never moves, and of twins nobody knows which is which";
  EXPECT_EQ(shared.moved[0].shown, "libwork.so!hot");
  EXPECT_EQ(shared.moved[0].bytes, 32u);
  EXPECT_NEAR(shared.moved[0].share, 0.6, 1e-9);
  const std::string script = script_of_places(shared);
  EXPECT_NE(script.find("\nplace libwork.so!0x1ba0 mod 4096 2512 2976\n"), std::string::npos) << script;
  EXPECT_NE(script.find("\nplace libwork.so!0x2040 mod 4096 64\n"), std::string::npos) << script;
  const SharedFunctions same = functions_of_both(older, older, 24);
  EXPECT_TRUE(same.moved.empty() && same.stayed.empty()) << "it lies alike, and stays where it is";
}

TEST(LibrariesOfBothTest, OneFunctionOfTwoBuildsOfALibraryStandsOnce) {
  const ListedBuild older =
      build_with({moved_file("libwork.so", 1, {{"hot", 0x19d0, 32, 600, 0, 0}, {"cold", 0x100, 9, 1, 0, 0}}, 601)});
  const ListedBuild newer =
      build_with({moved_file("libwork.so", 2, {{"hot", 0x1ba0, 32, 500, 0, 0}}, 500), unmoved_file("libc.so.6", 3, {}, 100)});
  const SharedLibraries libraries = libraries_of_both(older, newer);
  EXPECT_DOUBLE_EQ(libraries.share, (0.601 + 0.6) / 2);
  EXPECT_DOUBLE_EQ(libraries.unmoved, 0.05);
  ASSERT_EQ(libraries.functions.size(), 2u) << "0.1 % of 1000 samples can't make a percent";
  EXPECT_EQ(libraries.functions[0].name, "libwork.so!hot");
  EXPECT_EQ(libraries.functions[0].old_linked, 0x19d0u);
  EXPECT_EQ(libraries.functions[0].new_linked, 0x1ba0u);
  EXPECT_DOUBLE_EQ(libraries.functions[0].old_share, 0.6);
  EXPECT_TRUE(libraries.functions[0].moved);
  EXPECT_EQ(libraries.functions[1].old_linked, 0u);
  EXPECT_DOUBLE_EQ(libraries.functions[1].old_share, 0);
  EXPECT_FALSE(libraries.functions[1].moved);
}

BuildBodies bodies_with(uint64_t text_hash, std::map<uint64_t, BuildBodies::Function> functions) {
  BuildBodies out;
  out.text_hash = text_hash;
  out.functions = std::move(functions);
  return out;
}

TEST(LibrariesOfBothTest, FunctionsOfTheirOwnLibrariesAreComparedOneByOne) {
  const auto build = [](uint64_t hash, uint64_t hot, uint32_t samples, uint64_t other) {
    return build_with({moved_file("libwork.so.1", hash, {{"hot", hot, 32, samples, 0, 0}, {"other", other, 9, 100, 0, 0}},
                                  samples + 100)});
  };
  ListedBuild older = build(1, 0x100, 500, 0x200), newer = build(2, 0x180, 700, 0x280);
  EXPECT_DOUBLE_EQ(libraries_of_both(older, newer).rebuilt, 0.7) << "neither is known";
  EXPECT_EQ(share_of_changed(older, newer), 0);
  older.libraries["libwork.so.1.2"] = bodies_with(1, {{0x100, {10, 70, "hot"}}, {0x200, {11, 71, "other"}}});
  EXPECT_DOUBLE_EQ(libraries_of_both(older, newer).rebuilt, 0.7) << "one is not known";
  newer.libraries["libwork.so.1.2"] = bodies_with(2, {{0x180, {10, 75, "hot"}}, {0x280, {11, 71, "other"}}});
  EXPECT_DOUBLE_EQ(libraries_of_both(older, newer).rebuilt, 0);
  EXPECT_DOUBLE_EQ(share_of_changed(older, newer), (0.5 + 0.7) / 2);
  newer.libraries["libwork.so.1.2"].functions.erase(0x280);
  EXPECT_DOUBLE_EQ(libraries_of_both(older, newer).rebuilt, 0.1) << "what never moves is not compared";
}

TEST(LibrariesOfBothTest, WhatStaysInOneFileLiesAlikeAndInTwoWhereItsAddressSays) {
  const auto apart = [](SampledFile before, SampledFile after) {
    return libraries_of_both(build_with({std::move(before)}), build_with({std::move(after)})).apart;
  };
  const auto hot = [](uint64_t hash, uint64_t linked) {
    return unmoved_file("libwork.so", hash, {{"hot", linked, 32, 0, 0, 900}}, 900);
  };
  EXPECT_DOUBLE_EQ(apart(hot(1, 0x1110), hot(2, 0x12a0)), 0.9);
  EXPECT_DOUBLE_EQ(apart(hot(1, 0x1110), hot(2, 0x5118)), 0) << "the same 16 bytes of a page";
  // What has no name tells no place: it is the same in the same file.
  EXPECT_DOUBLE_EQ(apart(unmoved_file("libc.so.6", 7, {}, 300), unmoved_file("libc.so.6", 7, {}, 300)), 0);
  EXPECT_DOUBLE_EQ(apart(unmoved_file("libc.so.6", 7, {}, 300), unmoved_file("libc.so.6", 8, {}, 300)), 0.3);
  EXPECT_DOUBLE_EQ(apart(unmoved_file("libc.so.6", 0, {}, 300), unmoved_file("libc.so.6", 0, {}, 300)), 0.3) << "nobody knows";
  // One side has no sample in a function of the same file.
  EXPECT_DOUBLE_EQ(apart(hot(1, 0x1110), unmoved_file("libwork.so", 1, {{"cold", 0x10, 9, 0, 0, 5}}, 5)), 0);
}

}  // namespace
}  // namespace stab::engine
