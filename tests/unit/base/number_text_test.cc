#include "base/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "base/rng.h"

namespace stab {
namespace {

TEST(NumberText, IsAsPeopleWriteIt) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-0.0), "-0");
  EXPECT_EQ(number_text(2), "2");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-1.5), "-1.5");
  EXPECT_EQ(number_text(1e6), "1000000");
  EXPECT_EQ(number_text(1e-6), "0.000001");
  EXPECT_EQ(number_text(1e-9), "1e-9");
  EXPECT_EQ(number_text(-1.25e-10), "-1.25e-10");
  EXPECT_EQ(number_text(9.99e20), "999000000000000000000");
  EXPECT_EQ(number_text(1e21), "1e21");
  EXPECT_EQ(number_text(1.5e300), "1.5e300");
  EXPECT_EQ(number_text(5e-324), "5e-324");
  EXPECT_EQ(number_text(1e100), "1e100");
}

TEST(NumberText, HasAWordForWhatIsNoNumber) {
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(number_text(std::nan("")), "nan");
}

TEST(NumberText, LeadsBackToTheSameNumber) {
  Rng random(5);
  for (int i = 0; i < 200'000; ++i) {
    const double number = std::bit_cast<double>(random.next());
    if (!std::isfinite(number)) continue;
    const std::string text = number_text(number);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
    EXPECT_LT(text.size(), 30u) << text;
  }
  for (const double number : {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
                              std::nextafter(1e21, 0), std::nextafter(1e-6, 1), 0.1 + 0.2, 1.0 / 3})
    EXPECT_EQ(std::strtod(number_text(number).c_str(), nullptr), number);
}

TEST(PercentText, IsWhatAPlanWouldSay) {
  EXPECT_EQ(percent_text(0.07), "7%");
  EXPECT_EQ(percent_text(0.01), "1%");
  EXPECT_EQ(percent_text(0.29), "29%");
  EXPECT_EQ(percent_text(0), "0%");
  EXPECT_EQ(percent_text(1), "100%");
  EXPECT_EQ(percent_text(-0.005), "-0.5%");
  EXPECT_EQ(percent_text(1e-9), "1e-7%");
  EXPECT_EQ(percent_text(0.00012345), "0.012345%");
  EXPECT_EQ(percent_text(1.0 / 3), "33.3333333333333%");
  EXPECT_EQ(percent_text(std::nan("")), "nan%");
}

TEST(PercentText, LeadsBackToTheSameShare) {
  for (int thousandth = 1; thousandth <= 100'000; ++thousandth) {
    const double percent = thousandth / 1000.0, share = percent / 100;
    EXPECT_EQ(percent_text(share), number_text(percent) + "%");
  }
}

}  // namespace
}  // namespace stab
