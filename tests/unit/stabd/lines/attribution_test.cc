#include "stabd/lines/attribution.h"

#include <gtest/gtest.h>

namespace stab::lines {
namespace {

class Attribute : public ::testing::Test {
 protected:
  uint32_t file(const std::string& name) { return names_.number(name); }
  Names names_;
  // push_back of the system's, inlined into add() of ours at line 7, inlined into main at line 20.
  const std::vector<Frame> frames_ = {{file("/usr/include/c++/12/vector"), 100, file("push_back")},
                                      {file("/p/src/list.h"), 7, file("add")},
                                      {file("/p/src/main.cc"), 20, file("main")}};
};

TEST_F(Attribute, GivesInlinedCodeToItsCallInScope) {
  Scope all({"%"}, names_);
  const auto found = region_of(frames_, Unit::kLine, Attribution::kCall, all);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(names_[found->key.file], "/p/src/list.h");
  EXPECT_EQ(found->key.line, 7u);
  EXPECT_EQ(names_[found->function], "add");
  Scope main({"main.cc"}, names_);
  EXPECT_EQ(region_of(frames_, Unit::kLine, Attribution::kCall, main)->key.line, 20u);
  Scope none({"other/%"}, names_);
  EXPECT_FALSE(region_of(frames_, Unit::kLine, Attribution::kCall, none).has_value());
}

TEST_F(Attribute, GivesALeafToItselfOrToNobody) {
  Scope all({"%"}, names_);
  EXPECT_FALSE(region_of(frames_, Unit::kLine, Attribution::kLeaf, all).has_value());
  Scope system({"/usr/include/%"}, names_);
  EXPECT_EQ(region_of(frames_, Unit::kLine, Attribution::kLeaf, system)->key.line, 100u);
}

TEST_F(Attribute, OfAFunctionTheLineSaysNothing) {
  Scope all({"%"}, names_);
  const auto found = region_of(frames_, Unit::kFunction, Attribution::kCall, all);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->key.line, 0u);
  EXPECT_EQ(names_[found->key.function], "add");
}

// Code of the compiler's own has line 0: it is part of the line that the call is on.
TEST_F(Attribute, GoesOnWhereACompilersCodeHasNoLine) {
  std::vector<Frame> frames = frames_;
  frames[1].line = 0;
  Scope all({"%"}, names_);
  EXPECT_EQ(region_of(frames, Unit::kLine, Attribution::kCall, all)->key.line, 20u);
}

TEST(NamesOfLines, AreNumberedOnceAndKeptThroughGrowth) {
  Names names;
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(names.number("file" + std::to_string(i)));
  EXPECT_EQ(names.number(""), 0u);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(names.number("file" + std::to_string(i)), numbers[static_cast<size_t>(i)]);
    EXPECT_EQ(names[numbers[static_cast<size_t>(i)]], "file" + std::to_string(i));
  }
}

}  // namespace
}  // namespace stab::lines
