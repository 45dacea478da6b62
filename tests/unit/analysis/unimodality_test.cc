// The dip: what doesn't depend on unit, origin and direction, its two extremes, clocks that round, and groups that are planted.
// Against R's diptest: tests/reference/analysis/generate_dip.R. How often it speaks without cause: shapes_calibration_test.cc.
#include "analysis/statistics/diagnostics/unimodality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

std::vector<double> two_groups(uint64_t seed, size_t lower, size_t upper, double apart) {
  Rng rng = Rng::stream(seed, "two groups");
  std::vector<double> out;
  for (size_t i = 0; i < lower + upper; ++i) out.push_back(standard_normal(rng) + (i < lower ? 0 : apart));
  return out;
}

TEST(Dip, IsTheSameInAnyUnitFromAnyOriginAndInAMirror) {
  const std::vector<double> values = two_groups(1, 30, 20, 4);
  const auto test = statistics::dip_test(values);
  ASSERT_TRUE(test);
  const auto turned = [&](double factor, double origin) {
    std::vector<double> out(values);
    for (double& value : out) value = origin + factor * value;
    return statistics::dip_test(out)->dip;
  };
  EXPECT_NEAR(turned(1e-9, 0), test->dip, 1e-12);
  EXPECT_NEAR(turned(1, 1e6), test->dip, 1e-7);
  EXPECT_NEAR(turned(-1, 0), test->dip, 1e-12);
}

TEST(Dip, LiesBetweenEvenSpacesAndTwoPoints) {
  std::vector<double> even, two;
  for (int i = 0; i < 40; ++i) {
    even.push_back(i);
    two.push_back((i % 2 == 0 ? 0 : 1) + 1e-9 * i);
  }
  EXPECT_NEAR(statistics::dip_test(even)->dip, 1.0 / 80, 1e-12);  // a jump's half is the least there can be
  EXPECT_EQ(statistics::dip_test(even)->p_value, 1);
  EXPECT_NEAR(statistics::dip_test(two)->dip, 0.25, 0.01);
  EXPECT_LT(statistics::dip_test(two)->p_value, 1e-4);
}

TEST(Dip, RefusesWhatHasNoShape) {
  EXPECT_FALSE(statistics::dip_test(std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(statistics::dip_test(std::vector<double>(20, 7.5)));
  EXPECT_FALSE(statistics::dip_test(std::vector<double>{1, 2, 3, NAN}));
}

TEST(Dip, AHeapThatAClockMadeIsNoMode) {
  Rng rng = Rng::stream(3, "clock");
  std::vector<double> fine, ticks;
  for (int i = 0; i < 200; ++i) {
    fine.push_back(0.5 + 0.01 * standard_normal(rng));
    ticks.push_back(std::round(fine.back() / 0.004) * 0.004);  // some dozen values for 200
  }
  EXPECT_GT(statistics::dip_test(ticks)->p_value, 0.3);
  std::vector<double> logs;
  for (const double tick : ticks) logs.push_back(std::log(tick));
  EXPECT_GT(statistics::dip_test(logs)->p_value, 0.3);
  for (size_t i = 0; i < 100; ++i) ticks[i] += 0.2;  // two groups stay two
  EXPECT_LT(statistics::dip_test(ticks)->p_value, 0.001);
}

TEST(Dip, GroupsAreThoseThatWerePlanted) {
  std::vector<double> values = two_groups(5, 60, 30, 8);
  for (size_t i = 0; i < 45; ++i) values.push_back(values[i] + 20 + 0.001 * static_cast<double>(i));
  std::sort(values.begin(), values.end());
  const auto groups = statistics::groups_of_values(values, 0.01);
  ASSERT_EQ(groups.size(), 3u);
  for (size_t i = 0, from = 0; i < 3; from += groups[i++].size()) {
    EXPECT_EQ(groups[i].data(), values.data() + from) << i;
    EXPECT_EQ(groups[i].size(), (std::vector<size_t>{60, 30, 45})[i]) << i;
  }
  std::vector<double> one = two_groups(6, 90, 0, 0);
  std::sort(one.begin(), one.end());
  const auto alone = statistics::groups_of_values(one, 0.01);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].size(), one.size());
}

TEST(Dip, OneValueFarOutIsNoGroup) {
  std::vector<double> values = two_groups(7, 50, 0, 0);
  values.push_back(40);
  EXPECT_GT(statistics::dip_test(values)->p_value, 0.5);
}

}  // namespace
}  // namespace stab::analysis
