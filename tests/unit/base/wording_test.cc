#include "base/wording.h"

#include <gtest/gtest.h>

namespace stab {
namespace {

const std::vector<std::string_view> kWords = {"seed", "replicates", "response", "name"};

TEST(InQuotes, KeepsWhatIsShortEnough) {
  EXPECT_EQ(in_quotes("seeed"), "'seeed'");
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("seeed", 5), "'seeed'");
  EXPECT_EQ(in_quotes("seeed", 4), "'seee...'");
}

TEST(InQuotes, CutsNoCharacterInTwo) {
  EXPECT_EQ(in_quotes("a\u00e4b", 2), "'a...'");
  EXPECT_EQ(in_quotes("a\u00e4b", 3), "'a\u00e4...'");
  EXPECT_EQ(in_quotes("\U0001f600b", 3), "'...'");
  EXPECT_EQ(in_quotes("\x80\x80\x80", 2), "'...'");
}

TEST(Nearest, FindsTypingMistakes) {
  EXPECT_EQ(nearest("seeed", kWords), "seed");
  EXPECT_EQ(nearest("sede", kWords), "seed");
  EXPECT_EQ(nearest("Seed", kWords), "seed");
  EXPECT_EQ(nearest("replicats", kWords), "replicates");
  EXPECT_EQ(nearest("banana", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
}

TEST(Nearest, TakesTheFirstOfEquals) {
  EXPECT_EQ(nearest("seet", {"seed", "seen"}), "seed");
  EXPECT_EQ(nearest("seet", {"seen", "seed"}), "seen");
}

// What has one letter has nothing in common with another letter.
TEST(Nearest, LeavesSomethingOfTheWord) {
  EXPECT_EQ(nearest("h", {"g", "y"}), "");
  EXPECT_EQ(nearest("h", {"H"}), "H");
  EXPECT_EQ(nearest("yy", {"y"}), "y");
}

TEST(Nearest, IsQuickWithLongWords) {
  const std::string longest(1'000'000, 'a');
  EXPECT_EQ(nearest(longest, kWords), "");
  EXPECT_EQ(nearest("aaaa", {longest, "aaab"}), "aaab");
}

TEST(DidYouMean, IsAQuestionOrNothing) {
  EXPECT_EQ(did_you_mean("seeed", kWords), "did you mean 'seed'?");
  EXPECT_EQ(did_you_mean("banana", kWords), "");
  EXPECT_EQ(did_you_mean("seeed", std::vector<std::string>{"name", "seed"}), "did you mean 'seed'?");
}

}  // namespace
}  // namespace stab
