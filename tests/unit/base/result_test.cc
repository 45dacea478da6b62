#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace stab {
namespace {

Result<std::unique_ptr<int>> half(int n) {
  if (n % 2 != 0) return bad_input("odd");
  return std::make_unique<int>(n / 2);
}

Result<int> quarter(int n) {
  STAB_TRY(auto first, half(n));
  STAB_TRY(auto second, half(*first));
  return *second;
}

Status must_be_quarterable(int n) {
  STAB_CHECK_OK(quarter(n).ok() ? Status() : Status(bad_input("not by four")));
  return {};
}

TEST(Result, TryBindsMoveOnlyValuesAndPassesErrorsOn) {
  EXPECT_EQ(*quarter(12), 3);
  ASSERT_FALSE(quarter(6).ok());
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Status, CarriesItsError) {
  EXPECT_TRUE(must_be_quarterable(8).ok());
  EXPECT_EQ(must_be_quarterable(7).error().message, "not by four");
}

}  // namespace
}  // namespace stab
