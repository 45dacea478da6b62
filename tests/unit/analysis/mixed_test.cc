// Mixed models beside what is known without them: balanced designs, where REML is the analysis of variance; and refusals.
// Against lme4, lmerTest and pbkrtest: tests/reference/analysis/generate_mixed.R.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/statistics/models/mixed_model.h"
#include "analysis/statistics/two_samples/t_tests.h"
#include "tests/unit/analysis/mixed_rows.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;

Result<statistics::MixedFit> fit(const MixedRows& rows,
                                 statistics::DegreesOfFreedom method = statistics::DegreesOfFreedom::kSatterthwaite) {
  return statistics::fit_mixed(rows.columns, {"(intercept)", "build"}, rows.random, rows.values, method);
}

// In complete pairs the difference of two levels is the paired t test's, whichever way its degrees of freedom are found.
TEST(Mixed, PairsGiveThePairedTTest) {
  Rng rng = Rng::stream(1, "pairs");
  MixedRows rows{{{}, {}}, {{"pair", {}, 15}}, {}};
  std::vector<double> first, second;
  for (uint32_t pair = 0; pair < 15; ++pair) {
    const double common = 3 * statistics::normal_quantile(0.02 + 0.96 * rng.uniform());
    for (uint32_t build = 0; build < 2; ++build) {
      rows.columns[0].push_back(1);
      rows.columns[1].push_back(build);
      rows.random[0].codes.push_back(pair);
      rows.values.push_back(common + 0.5 * build + statistics::normal_quantile(0.02 + 0.96 * rng.uniform()));
      (build ? second : first).push_back(rows.values.back());
    }
  }
  const auto paired = statistics::paired_t(second, first, 0, statistics::Alternative::kTwoSided, 0.95);
  ASSERT_TRUE(paired);
  for (const auto method : {statistics::DegreesOfFreedom::kSatterthwaite, statistics::DegreesOfFreedom::kKenwardRoger}) {
    const auto found = fit(rows, method);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_NEAR(found->fixed[1].estimate, paired->estimate, 1e-9);
    EXPECT_NEAR(found->fixed[1].standard_error, paired->standard_error, 1e-6);
    EXPECT_NEAR(found->fixed[1].df, 14, 1e-3);
    EXPECT_FALSE(found->singular);
  }
}

TEST(Mixed, ShiftAndScaleMoveWhatTheyShould) {
  Rng rng = Rng::stream(2, "scale");
  const MixedRows rows = mixed_rows(rng, kMixedShapes[4], 0.3);
  MixedRows moved = rows;
  for (double& value : moved.values) value = 1e6 + 1000 * value;
  const auto a = fit(rows), b = fit(moved);
  ASSERT_TRUE(a && b);
  EXPECT_NEAR(b->fixed[1].estimate / 1000, a->fixed[1].estimate, 1e-6);
  EXPECT_NEAR(b->fixed[1].df, a->fixed[1].df, 1e-3 * a->fixed[1].df);
  EXPECT_NEAR(b->fixed[0].estimate, 1e6 + 1000 * a->fixed[0].estimate, 1e-3);
  for (size_t i = 0; i < a->variances.size(); ++i)
    EXPECT_NEAR(b->variances[i] / 1e6, a->variances[i], 1e-5 * a->variances[i] + 1e-9);
}

// A treatment whose effect differs between programs has the programs' degrees of freedom, not the rows'.
TEST(Mixed, ProgramsThatDifferInTheEffectAreWhatCounts) {
  Rng rng = Rng::stream(3, "programs");
  MixedRows rows = mixed_rows(rng, kMixedShapes[5], 0.3);
  const auto with = fit(rows);
  rows.random.pop_back();
  const auto without = fit(rows);
  ASSERT_TRUE(with && without);
  EXPECT_NEAR(with->fixed[1].df, 5, 0.1);
  EXPECT_GT(without->fixed[1].df, 100);
  EXPECT_GT(with->fixed[1].standard_error, 3 * without->fixed[1].standard_error);
}

TEST(Mixed, NoVarianceIsSaid) {
  MixedRows rows{{{}, {}}, {{"machine", {}, 3}}, {}};
  Rng rng = Rng::stream(4, "none");
  for (uint32_t run = 0; run < 12; ++run)
    for (uint32_t machine = 0; machine < 3; ++machine) {
      rows.columns[0].push_back(1);
      rows.columns[1].push_back(run % 2);
      rows.random[0].codes.push_back(machine);
      rows.values.push_back(static_cast<double>((run + machine) % 3) + 0.01 * rng.uniform());
    }
  const auto found = fit(rows);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->singular);
  EXPECT_EQ(found->variances[0], 0);
  EXPECT_NEAR(found->fixed[1].df, 34, 1e-6);
}

TEST(Mixed, RefusesWhatItCantTell) {
  Rng rng = Rng::stream(5, "refusals");
  const MixedRows good = mixed_rows(rng, kMixedShapes[0], 0);
  const auto refused = [](const MixedRows& rows) {
    const auto found = fit(rows);
    return found ? std::string("fitted") : found.error().message;
  };
  MixedRows rows = good;
  for (uint32_t& code : rows.random[1].codes) code = 0;
  EXPECT_THAT(refused(rows), HasSubstr("'machine' has one level"));
  rows = good;
  for (size_t i = 0; i < rows.values.size(); ++i) rows.random[1].codes[i] = static_cast<uint32_t>(i);
  EXPECT_THAT(refused(rows), HasSubstr("each row has a 'machine' of its own"));
  rows = good;
  for (size_t i = 0; i < rows.values.size(); ++i) rows.random[1].codes[i] = 7 - rows.random[0].codes[i];
  EXPECT_THAT(refused(rows), HasSubstr("'machine' and 'program' go together"));
  rows = good;
  rows.columns[1] = rows.columns[0];
  EXPECT_THAT(refused(rows), HasSubstr("depend on each other"));
  rows = good;
  rows.values.assign(rows.values.size(), 3.0);
  EXPECT_THAT(refused(rows), HasSubstr("all values are equal"));
  rows = good;
  rows.random.clear();
  EXPECT_THAT(refused(rows), HasSubstr("has a random term"));
}

}  // namespace
}  // namespace stab::analysis
