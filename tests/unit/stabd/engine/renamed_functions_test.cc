// Which functions of several builds are one under several names, and which are not told to be.
#include "stabd/engine/results/renamed_functions.h"

#include <gtest/gtest.h>

#include <utility>

namespace stab::engine {
namespace {

// Of functions by identity and contents.
Needs build(const std::vector<std::pair<uint64_t, uint32_t>>& functions) {
  Needs needs;
  for (const auto& [identity, content] : functions) {
    needs.rows.push_back({identity, 16, 0, 8, 0});
    needs.contents.push_back(content);
  }
  return needs;
}

TEST(RenamedFunctions, AreAloneOnEachSideAndAlike) {
  EXPECT_EQ(find_renamed({build({{1, 10}, {2, 20}, {3, 30}}), build({{1, 10}, {5, 20}, {6, 60}})}), (FirstNames{{5, 2}}));
  EXPECT_TRUE(find_renamed({build({{1, 10}})}).empty());
  EXPECT_TRUE(find_renamed({}).empty());
}

TEST(RenamedFunctions, AreNotThoseThatBothHave) {
  EXPECT_TRUE(find_renamed({build({{1, 10}, {2, 20}}), build({{1, 20}, {2, 10}})}).empty()) << "their contents were exchanged";
  EXPECT_TRUE(find_renamed({build({{1, 10}, {2, 20}}), build({{1, 10}, {2, 20}, {3, 20}})}).empty()) << "a copy of one";
}

TEST(RenamedFunctions, AreNotGuessedAmongSeveral) {
  EXPECT_EQ(find_renamed({build({{1, 10}, {2, 10}, {3, 30}}), build({{4, 10}, {5, 30}})}), (FirstNames{{5, 3}}));
  EXPECT_EQ(find_renamed({build({{1, 10}, {3, 30}}), build({{4, 10}, {5, 10}, {6, 30}})}), (FirstNames{{6, 3}}));
}

TEST(RenamedFunctions, OfThreeBuildsHaveThePlaceOfTheFirst) {
  EXPECT_EQ(find_renamed({build({{1, 10}}), build({{4, 10}}), build({{7, 10}})}), (FirstNames{{4, 1}, {7, 1}}));
  EXPECT_EQ(find_renamed({build({{1, 10}}), build({{4, 10}}), build({{1, 10}, {4, 40}})}), FirstNames{}) << "the third has both";
  EXPECT_EQ(find_renamed({build({{1, 10}}), build({{4, 10}}), build({{5, 10}}), build({{4, 11}, {5, 12}})}), (FirstNames{{4, 1}}))
      << "the fourth has two of its names";
}

}  // namespace
}  // namespace stab::engine
