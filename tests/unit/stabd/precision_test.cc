// Half widths against R's numbers, what counts once, and that what was known can be gone on from. Which trials share a
// layout is the plan's to say; that the daemon's watchers are told is in stabctl/daemon_test.
#include "stabd/precision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "plan/parse.h"

namespace stab::engine {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Precision, HalfWidthOfAKnownSample) {
  CellTimes times;
  for (const double log_seconds : {0.00, 0.01, 0.02, 0.03}) times.add(log_seconds, 0);
  EXPECT_FALSE(times.half_width().has_value()) << "an interval of four says more of t than of them";
  times.add(0.04, 0);
  // R: x <- c(0, .01, .02, .03, .04); expm1(qt(.975, 4) * sd(x) / sqrt(5))
  ASSERT_TRUE(times.half_width().has_value());
  EXPECT_NEAR(*times.half_width(), 0.0198264152, 1e-9);
}

// Ten runs of each of five links say as much as five numbers, their means.
TEST(Precision, TrialsOfOneLayoutCountOnce) {
  CellTimes times;
  for (int run = 0; run < 10; ++run)
    for (uint64_t link = 1; link <= 5; ++link)
      times.add(0.01 * static_cast<double>(link - 1) + (run % 2 == 0 ? 1e-5 : -1e-5), link);
  EXPECT_EQ(times.units().n, 5);
  ASSERT_TRUE(times.half_width().has_value());
  EXPECT_NEAR(*times.half_width(), 0.0198264152, 1e-9);
}

TEST(Precision, TheWidestCellCountsOnceAllHaveEnough) {
  Precision precision;
  EXPECT_FALSE(precision.widest().has_value());
  for (int i = 0; i < 10; ++i) precision.add("p", "code=off", kSecond + i);
  ASSERT_TRUE(precision.widest().has_value());
  EXPECT_LT(*precision.widest(), 1e-8);
  for (int i = 0; i < 4; ++i) precision.add("p", "code=shuffle", kSecond + i * kSecond / 10);
  EXPECT_FALSE(precision.widest().has_value()) << "four trials say little of their cell";
  precision.add("p", "code=shuffle", kSecond * 14 / 10);
  EXPECT_GT(*precision.widest(), 0.1);
  precision.add("p", "code=shuffle", 0);
  EXPECT_EQ(precision.cells().size(), 2u);
  EXPECT_EQ(precision.cells()[1].units().n, 5) << "a time of 0 has no logarithm";
}

TEST(Precision, GoesOnFromWhatWasKnown) {
  Precision whole, first;
  const auto time = [](int i) { return kSecond + i * 1'000'000; };
  for (int i = 0; i < 20; ++i) whole.add("p", "c", time(i), i % 3 == 0 ? 7 : 0);
  for (int i = 0; i < 7; ++i) first.add("p", "c", time(i), i % 3 == 0 ? 7 : 0);
  Precision second;
  second.add(first.cells().front());
  for (int i = 7; i < 20; ++i) second.add("p", "c", time(i), i % 3 == 0 ? 7 : 0);
  EXPECT_NEAR(*second.widest(), *whole.widest(), 1e-12);
}

TEST(Precision, LinksShareALayoutWhereCodeStays) {
  const std::string text = R"(
[experiment]
name = "links"
seed = 1
replicates = 2
[factors]
code = ["off", "shuffle"]
link = { seeds = 10 }
[[program]]
name = "p"
build = "make LINK={link}"
run = ["./p"]
)";
  const auto expanded = [](const std::string& toml) {
    auto plan = plan::parse_plan(toml, "plan.toml");
    EXPECT_TRUE(plan.plan.has_value());
    auto out = expand(*plan.plan);
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  };
  const ExpandedPlan once = expanded(text);
  ASSERT_TRUE(once.design.cells[0].fixed_code);
  EXPECT_EQ(layout_of(once, 0, 3, 99), 3u);
  EXPECT_EQ(layout_of(once, 0, 0, 99), 0u) << "as linked: nothing is shared that the plan varies";
  EXPECT_EQ(layout_of(once, 1, 0, 99), 0u);
  std::string several = text;
  several.replace(several.find("replicates = 2"), 14, "replicates = 2\nruns_per_seed = 2");
  EXPECT_EQ(layout_of(expanded(several), 1, 0, 99), 99u);
}

}  // namespace
}  // namespace stab::engine
