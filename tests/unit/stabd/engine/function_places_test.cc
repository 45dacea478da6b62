// Which functions are looked at by `stabctl explain`. Whole searches are in tests/e2e/explain_test and tests/explain.
#include "stabd/engine/results/function_places.h"

#include <gtest/gtest.h>

namespace stab::engine {
namespace {

TEST(FunctionPlacesTest, OfFewSamplesOneMayMeanHalfAPercent) {
  // A run of 0.12 s has 120 samples, and three of them are taken. Where it lies well a function of 1 % may have one of them.
  EXPECT_TRUE(may_be_busy(1, 360));
  EXPECT_FALSE(may_be_busy(0, 360));
}

TEST(FunctionPlacesTest, OfManySamplesTheShareIsKnown) {
  EXPECT_FALSE(may_be_busy(1, 100'000));
  EXPECT_FALSE(may_be_busy(440, 100'000));
  EXPECT_TRUE(may_be_busy(500, 100'000));
}

TEST(FunctionPlacesTest, WithoutSamplesNothingIsBusy) { EXPECT_FALSE(may_be_busy(0, 0)); }

}  // namespace
}  // namespace stab::engine
