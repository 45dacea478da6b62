// What an interrupted search for a commit keeps of the ends' places, and that a file which says something impossible is refused.
#include "stabctl/gate/bisect_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/unit/temporary_directory.h"

namespace stab::ctl {
namespace {

using commands::BisectPlace;
using commands::CommitFinding;
using ::testing::HasSubstr;

class BisectStateTest : public ::testing::Test {
 protected:
  Result<BisectState> open() const { return BisectState::open(root_.path() + "/search", "good", "bad", "question"); }

  static BisectPlace place() {
    BisectPlace out;
    out.workload = "lua";
    out.finding = CommitFinding::kUnsure;
    out.effect = 0.16;
    out.care = {"few blocks"};
    out.explained = R"({"answer": "place"})";
    return out;
  }

  void keep() const {
    auto state = open();
    ASSERT_TRUE(state.ok() && state->add_places({place()}).ok());
  }

  void replace(const std::string& from, const std::string& to) const {
    const std::string path = root_.path() + "/search/steps.json";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::string changed = text.str();
    const size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << changed;
    std::ofstream(path) << changed.replace(at, from.size(), to);
  }

  void expect_refused() const {
    const auto state = open();
    ASSERT_FALSE(state.ok());
    EXPECT_THAT(state.error().message, HasSubstr("steps.json' is damaged; remove it, and the search begins again"));
  }

 private:
  TemporaryDirectory root_;
};

// What an answer weighs in the search that goes on.
TEST_F(BisectStateTest, AStepIsReadWithItsError) {
  commands::BisectStep step;
  step.standard_error = 0.0025;
  step.copies_half_width = 0.001;
  {
    auto state = open();
    ASSERT_TRUE(state.ok() && state->add(step).ok());
  }
  const auto again = open();
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->steps().size(), 1u);
  EXPECT_EQ(again->steps()[0].standard_error, 0.0025);
  EXPECT_EQ(again->steps()[0].copies_half_width, 0.001);
}

// Too few blocks of a confidence sequence give no bounded interval. The search goes on all the same.
TEST_F(BisectStateTest, AStepWithoutABoundedIntervalIsReadAgain) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  commands::BisectStep step;
  step.cost = 0.5, step.cost_low = -kInfinity, step.cost_high = kInfinity;
  step.standard_error = std::numeric_limits<double>::quiet_NaN();
  {
    auto state = open();
    ASSERT_TRUE(state.ok() && state->add(step).ok());
  }
  const auto again = open();
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_EQ(again->steps().size(), 1u);
  EXPECT_EQ(again->steps()[0].cost, 0.5);
  EXPECT_EQ(again->steps()[0].cost_low, -kInfinity);
  EXPECT_EQ(again->steps()[0].cost_high, kInfinity);
  EXPECT_TRUE(std::isnan(again->steps()[0].standard_error));
}

TEST_F(BisectStateTest, PlacesAreReadAsTheyWereKept) {
  keep();
  const auto state = open();
  ASSERT_TRUE(state.ok()) << state.error().message;
  ASSERT_EQ(state->places().size(), 1u);
  const BisectPlace& read = state->places()[0];
  EXPECT_EQ(read.workload, "lua");
  EXPECT_EQ(read.finding, CommitFinding::kUnsure);
  EXPECT_EQ(read.effect, 0.16);
  EXPECT_EQ(read.care, std::vector<std::string>{"few blocks"});
  EXPECT_EQ(read.explained, R"({"answer": "place"})");
}

// Answers print a word for each finding, and what explain has said as it is.
TEST_F(BisectStateTest, AFindingThatNoPlaceHasIsRefused) {
  for (const char* finding : {"3", "4", "-1", "\"slower\""}) {
    SCOPED_TRACE(finding);
    keep();
    replace("\"finding\": 2", std::string("\"finding\": ") + finding);
    expect_refused();
    replace("\"finding\": " + std::string(finding), "\"finding\": 2");
  }
}

TEST_F(BisectStateTest, WhatExplainSaidMustBeJson) {
  keep();
  replace(R"({\"answer\": \"place\"})", R"({\"answer\": \"place)");
  expect_refused();
}

}  // namespace
}  // namespace stab::ctl
