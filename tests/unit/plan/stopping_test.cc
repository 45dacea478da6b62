// When verdicts are due, and how many replicates a first stage asks for; the coverage that this promises is simulated.
#include "plan/stopping.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/rng.h"
#include "plan_fixture.h"

namespace stab::plan {
namespace {

using ::testing::ElementsAre;

Plan stopped(const std::string& stopping) {
  return parsed("[experiment]\nname=\"t\"\nseed=1\n" + stopping + "[[program]]\nname=\"p\"\nrun=[\"p\"]\n");
}

TEST(Stopping, VerdictsOnlyAtDeclaredPoints) {
  EXPECT_THAT(verdict_points(stopped("replicates=30\n")), ElementsAre(30));
  EXPECT_THAT(verdict_points(stopped("[stopping]\nrule=\"looks\"\nlooks=[10,20,40]\n")), ElementsAre(10, 20, 40));
  EXPECT_THAT(verdict_points(stopped("[stopping]\nrule=\"precision\"\nfirst=20\nmax=200\nhalf_width=\"1%\"\n")),
              ElementsAre(20, 200));
  EXPECT_THAT(verdict_points(stopped("[stopping]\nrule=\"precision\"\nfirst=20\nmax=20\nhalf_width=\"1%\"\n")),
              ElementsAre(20));
}

// After each block, but of many after each hundredth part.
TEST(Stopping, ASequenceMayEndAfterAnyBlock) {
  const Plan plan = stopped("[stopping]\nrule=\"sequence\"\nfirst=5\nmax=9\n");
  EXPECT_EQ(plan.experiment.replicates, 9);
  EXPECT_THAT(verdict_points(plan), ElementsAre(5, 6, 7, 8, 9));
  EXPECT_FALSE(is_decided_after(plan, 4));
  EXPECT_TRUE(is_decided_after(plan, 5));
  EXPECT_TRUE(is_decided_after(plan, 8));
  EXPECT_FALSE(is_decided_after(plan, 9)) << "that is the end";
  EXPECT_THAT(verdict_points(stopped("[stopping]\nrule=\"sequence\"\nmax=10\n")), ElementsAre(8, 9, 10));
  EXPECT_THAT(verdict_points(stopped("[stopping]\nrule=\"sequence\"\nmax=6\n")), ElementsAre(6));
  const Plan longest = stopped("[stopping]\nrule=\"sequence\"\nfirst=199\nmax=1000000\n");
  EXPECT_TRUE(is_decided_after(longest, 199));
  EXPECT_TRUE(is_decided_after(longest, 200));
  EXPECT_FALSE(is_decided_after(longest, 201));
  EXPECT_TRUE(is_decided_after(longest, 202));
  EXPECT_LT(verdict_points(longest).size(), 2000u);
  EXPECT_EQ(verdict_points(longest).back(), 1'000'000);
  const Plan looks = stopped("[stopping]\nrule=\"looks\"\nlooks=[10,20,40]\n");
  EXPECT_TRUE(is_decided_after(looks, 20));
  EXPECT_FALSE(is_decided_after(looks, 40));
}

TEST(Stopping, TheSecondStageFollowsFromTheFirstOnesSpread) {
  Stopping stopping;
  stopping.rule = StoppingRule::kPrecision;
  stopping.first = 20;
  stopping.max = 200;
  stopping.half_width = 0.01;
  EXPECT_EQ(total_replicates(stopping, 0.005), 20);   // reached already
  EXPECT_EQ(total_replicates(stopping, 0.01), 20);    // just
  EXPECT_EQ(total_replicates(stopping, 0.02), 80);    // twice too wide: four times as many
  EXPECT_EQ(total_replicates(stopping, 0.0201), 81);
  EXPECT_EQ(total_replicates(stopping, 0.1), 200);    // capped
  EXPECT_EQ(total_replicates(stopping, 1e300), 200);
  EXPECT_EQ(total_replicates(stopping, 0), 20);
}

// The promise of Stein's rule: with the first stage's t quantile the final interval covers the mean at least as
// often as it says. 4,000 runs with a fixed seed; sd of the share is 0.0034.
TEST(Stopping, TheFinalIntervalCoversAsOftenAsItSays) {
  constexpr double kT19 = 2.093024;  // 97.5 % quantile, 19 degrees of freedom
  Stopping stopping;
  stopping.first = 20;
  stopping.max = 100'000;
  stopping.half_width = 0.3;
  Rng rng(7);
  const auto normal = [&rng] {  // Box and Muller
    return std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(2 * 3.14159265358979 * rng.uniform());
  };
  int covered = 0;
  constexpr int kRuns = 4000;
  for (int run = 0; run < kRuns; ++run) {
    double sum = 0, squares = 0;
    for (int i = 0; i < stopping.first; ++i) {
      const double x = normal();
      sum += x;
      squares += x * x;
    }
    const double variance = (squares - sum * sum / stopping.first) / (stopping.first - 1);
    const int total = total_replicates(stopping, kT19 * std::sqrt(variance / stopping.first));
    for (int i = stopping.first; i < total; ++i) sum += normal();
    const double half_width = kT19 * std::sqrt(variance / total);
    EXPECT_LE(half_width, stopping.half_width * 1.0001);
    if (std::fabs(sum / total) <= half_width) ++covered;
  }
  EXPECT_GE(static_cast<double>(covered) / kRuns, 0.95 - 3 * 0.0034);
}

}  // namespace
}  // namespace stab::plan
