// Fractions against the tables of the textbooks (resolution, aliases), and by their properties: balance and orthogonality.
#include "plan/fraction.h"

#include <gmock/gmock.h>

#include "plan/design.h"
#include "plan_fixture.h"

namespace stab::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Plan plan_of(int factors, const std::string& fraction) {
  std::string tables = "[factors]\n";
  for (int f = 0; f < factors; ++f) tables += std::string(1, static_cast<char>('a' + f)) + "=[1,2]\n";
  return parsed(small_plan(tables + "fraction=" + fraction));
}

// Sum of the sign products of a word over the runs: +-runs where the word is constant, 0 where balanced.
int contrast(const Design& design, const std::vector<size_t>& factors) {
  int sum = 0;
  for (const Cell& cell : design.cells) {
    int sign = 1;
    for (size_t f : factors) sign *= cell.levels[f] == 0 ? -1 : 1;
    sum += sign;
  }
  return sum;
}

TEST(Fraction, HalfOfFourFactorsIsTheResolutionFourTable) {
  const Result<Design> design = make_design(plan_of(4, "\"1/2\""));
  ASSERT_TRUE(design.ok());
  EXPECT_EQ(design->cells.size(), 8u);
  EXPECT_EQ(design->resolution, 4);
  EXPECT_THAT(design->defining_words, ElementsAre("a:b:c:d"));
  // Box, Hunter & Hunter, table 6.4: ab = cd, ac = bd, ad = bc; main effects with three-factor ones.
  EXPECT_THAT(design->aliases, Contains(ElementsAre("a:b", "c:d")));
  EXPECT_THAT(design->aliases, Contains(ElementsAre("a:c", "b:d")));
  EXPECT_THAT(design->aliases, Contains(ElementsAre("b:c", "a:d")).Times(0));
  EXPECT_THAT(design->aliases, Contains(ElementsAre("a:d", "b:c")));
  EXPECT_THAT(design->aliases, Contains(ElementsAre("a", "b:c:d")));
  EXPECT_THAT(design->not_estimable, IsEmpty());
}

TEST(Fraction, ChoosesKnownBestResolutions) {
  // Box, Hunter & Hunter, table 6.22: resolution of minimum-aberration 2^(k-p) designs.
  const struct { int k; const char* of; int resolution; } known[] = {
      {3, "\"1/2\"", 3}, {5, "\"1/2\"", 5}, {5, "\"1/4\"", 3}, {6, "\"1/4\"", 4}, {7, "\"1/8\"", 4}, {7, "\"1/16\"", 3},
      {8, "\"1/16\"", 4}};
  for (const auto& [k, of, resolution] : known) {
    const Result<Design> design = make_design(plan_of(k, of));
    ASSERT_TRUE(design.ok()) << k << of;
    EXPECT_EQ(design->resolution, resolution) << k << of;
  }
}

TEST(Fraction, MainEffectsStayBalancedAndOrthogonal) {
  const Result<Design> design = make_design(plan_of(6, "\"1/4\""));
  ASSERT_TRUE(design.ok());
  EXPECT_EQ(design->cells.size(), 16u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(contrast(*design, {i}), 0);
    for (size_t j = i + 1; j < 6; ++j) EXPECT_EQ(contrast(*design, {i, j}), 0);
  }
}

TEST(Fraction, GeneratorsPickTheHalfTheySay) {
  const Result<Design> plus = make_design(plan_of(3, "{of=\"1/2\",generators=[\"c = a:b\"]}"));
  const Result<Design> minus = make_design(plan_of(3, "{of=\"1/2\",generators=[\"c = -a:b\"]}"));
  ASSERT_TRUE(plus.ok() && minus.ok());
  EXPECT_EQ(contrast(*plus, {0, 1, 2}), 4);
  EXPECT_EQ(contrast(*minus, {0, 1, 2}), -4);
}

TEST(Fraction, AliasesOfTheOtherHalfHaveTheirSign) {
  const Result<Design> minus = make_design(plan_of(3, "{of=\"1/2\",generators=[\"c = -a:b\"]}"));
  ASSERT_TRUE(minus.ok());
  EXPECT_THAT(minus->defining_words, ElementsAre("-a:b:c"));
  EXPECT_THAT(minus->aliases, Contains(ElementsAre("a", "-b:c")));
  const Result<Design> of_five = make_design(plan_of(5, "{of=\"1/4\",generators=[\"d = -a:b\", \"e = a:c\"]}"));
  ASSERT_TRUE(of_five.ok());
  EXPECT_THAT(of_five->defining_words, ElementsAre("-a:b:d", "a:c:e", "-b:c:d:e"));
  EXPECT_THAT(of_five->aliases, Contains(ElementsAre("a", "-b:d", "c:e")));
}

TEST(Fraction, RefusesWhatConfoundsMainEffects) {
  const auto refused = [](int factors, const std::string& fraction) {
    std::string tables = "[factors]\n";
    for (int f = 0; f < factors; ++f) tables += std::string(1, static_cast<char>('a' + f)) + "=[1,2]\n";
    return errors_of(small_plan(tables + "fraction=" + fraction));
  };
  EXPECT_NE(refused(3, "\"1/4\"").find("at least 4 factors"), std::string::npos);
  EXPECT_NE(refused(4, "{of=\"1/2\",generators=[\"a = b\"]}").find("resolution 2"), std::string::npos);
  EXPECT_NE(refused(4, "{of=\"1/2\",generators=[\"a b\"]}").find("no '='"), std::string::npos);
  EXPECT_NE(refused(5, "{of=\"1/4\",generators=[\"a=b:c\"]}").find("takes 2 generators"), std::string::npos);
  EXPECT_NE(refused(5, "{of=\"1/4\",generators=[\"a=b:c\",\"b=a:c\"]}").find("depend"), std::string::npos);
}

TEST(Fraction, OtherFactorsAreCrossedFully) {
  const std::string tables =
      "[factors]\na=[1,2]\nb=[1,2]\nc=[1,2]\nx=[1,2,3]\nfraction=\"1/2\"";
  const Result<Design> design = make_design(parsed(small_plan(tables)));
  ASSERT_TRUE(design.ok());
  EXPECT_EQ(design->cells.size(), 12u);
}

}  // namespace
}  // namespace stab::plan
