#include "stabd/precision.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stab::engine {
namespace {

TEST(Precision, HalfWidthOfAKnownSample) {
  CellTimes times;
  EXPECT_FALSE(times.half_width().has_value());
  for (const double log_seconds : {0.00, 0.01, 0.02, 0.03, 0.04}) times.add(log_seconds);
  // R: x <- c(0, .01, .02, .03, .04); expm1(qt(.975, 4) * sd(x) / sqrt(5))
  EXPECT_NEAR(*times.half_width(), 0.0198264152, 1e-9);
}

TEST(Precision, TheWidestCellCountsOnceAllHaveTwo) {
  Precision precision;
  EXPECT_FALSE(precision.widest().has_value());
  for (int i = 0; i < 10; ++i) precision.add("p", "code=off", 1'000'000'000 + i);
  ASSERT_TRUE(precision.widest().has_value());
  EXPECT_LT(*precision.widest(), 1e-8);
  precision.add("p", "code=shuffle", 1'000'000'000);
  EXPECT_FALSE(precision.widest().has_value()) << "one trial says nothing of its cell";
  precision.add("p", "code=shuffle", 1'100'000'000);
  EXPECT_GT(*precision.widest(), 0.1);
  precision.add("p", "code=shuffle", 0);
  EXPECT_EQ(precision.cells().size(), 2u);
  EXPECT_EQ(precision.cells()[1].n, 2) << "a time of 0 has no logarithm";
}

TEST(Precision, GoesOnFromWhatWasKnown) {
  Precision whole, first;
  for (int i = 0; i < 20; ++i) whole.add("p", "c", 1'000'000'000 + i * 1'000'000);
  for (int i = 0; i < 7; ++i) first.add("p", "c", 1'000'000'000 + i * 1'000'000);
  Precision second;
  second.add(first.cells().front());
  for (int i = 7; i < 20; ++i) second.add("p", "c", 1'000'000'000 + i * 1'000'000);
  EXPECT_NEAR(*second.widest(), *whole.widest(), 1e-12);
}

}  // namespace
}  // namespace stab::engine
