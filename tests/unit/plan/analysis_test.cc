// [analysis]: estimators beside the mean, as a plan declares them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan_fixture.h"

namespace stab::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string plan_with(const std::string& analysis) {
  return "[experiment]\nname=\"t\"\nseed=1\nreplicates=9\n[analysis]\n" + analysis + "\n[[program]]\nname=\"p\"\nrun=[\"p\"]\n";
}

TEST(Analysis, NoneIsDeclaredUnlessSaid) {
  const Plan plan = parsed("[experiment]\nname=\"t\"\nseed=1\nreplicates=9\n[[program]]\nname=\"p\"\nrun=[\"p\"]\n");
  EXPECT_THAT(plan.analysis.estimators, IsEmpty());
  EXPECT_THAT(plan.analysis.shift, IsEmpty());
}

TEST(Analysis, EstimatorsAreWordsAndQuantiles) {
  const Plan plan = parsed(
      plan_with("estimators = [\"hodges-lehmann\", \"median\", { quantile = 0.9 }, \"mixed\"]\nshift = [0.25, 0.5, 0.75]"));
  ASSERT_EQ(plan.analysis.estimators.size(), 4u);
  EXPECT_EQ(plan.analysis.estimators[0].kind, Estimator::Kind::kHodgesLehmann);
  EXPECT_EQ(plan.analysis.estimators[1].kind, Estimator::Kind::kQuantile);
  EXPECT_EQ(plan.analysis.estimators[1].probability, 0.5);
  EXPECT_EQ(plan.analysis.estimators[2].probability, 0.9);
  EXPECT_EQ(plan.analysis.estimators[3].kind, Estimator::Kind::kMixed);
  EXPECT_THAT(plan.analysis.shift, ElementsAre(0.25, 0.5, 0.75));
}

struct Refused {
  const char* analysis;
  const char* message;
};
class AnalysisFaults : public ::testing::TestWithParam<Refused> {};

TEST_P(AnalysisFaults, AreToldWithTheirCure) {
  const Parsed refused = parse_plan(plan_with(GetParam().analysis), "p.toml");
  EXPECT_FALSE(refused.plan);
  EXPECT_THAT(render(refused.errors), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, AnalysisFaults,
    ::testing::Values(
        Refused{"estimators = [\"mean\"]", "the mean is always estimated"},
        Refused{"estimators = [\"mixd\"]", "did you mean 'mixed'?"},
        Refused{"estimators = [\"mixed\", \"mixed\"]", "this estimator is named twice"},
        Refused{"estimators = [\"hodges-leman\"]", "did you mean 'hodges-lehmann'?"},
        Refused{"estimators = \"median\"", "expected an array"}, Refused{"estimators = []", "has 0 entries, expected 1 to 16"},
        Refused{"estimators = [\"median\", { quantile = 0.5 }]", "this estimator is named twice"},
        Refused{"estimators = [{ quantile = 1.5 }]", "a quantile lies between 0.001 and 0.999"},
        Refused{"estimators = [{ quantile = \"0.9\" }]", "expected a number"},
        Refused{"estimators = [{ quantil = 0.9 }]", "did you mean 'quantile'?"}, Refused{"estimators = [7]", "an estimator"},
        Refused{"shift = [0.5, 0.25]", "the quantiles of 'shift' ascend"},
        Refused{"shift = [0]", "a quantile lies between 0.001 and 0.999"}, Refused{"shift = 0.5", "expected an array"},
        Refused{"estimator = [\"median\"]", "did you mean 'estimators'?"}));

}  // namespace
}  // namespace stab::plan
