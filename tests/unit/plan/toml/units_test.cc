// Durations, shares, sizes and command lines as people write them, and what is refused because it would be guessed.
#include "plan/toml/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab::toml {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Units, DurationsTakeAUnit) {
  EXPECT_EQ(*parse_duration("60s"), 60s);
  EXPECT_EQ(*parse_duration("500ms"), 500ms);
  EXPECT_EQ(*parse_duration("1.5 s"), 1500ms);
  EXPECT_EQ(*parse_duration("100us"), 100us);
  EXPECT_EQ(*parse_duration("7ns"), 7ns);
  EXPECT_EQ(*parse_duration("2min"), 120s);
  EXPECT_EQ(*parse_duration("1h"), 3600s);
}

TEST(Units, DurationsWithoutOrWithWrongUnitAreRefused) {
  for (const char* text : {"", "60", "s", "-1s", "+1s", "1 second", "1sx", "nan s", "inf", "1e400s", "300000000h"})
    EXPECT_FALSE(parse_duration(text).ok()) << text;
}

TEST(Units, FractionsArePercentagesOrShares) {
  EXPECT_DOUBLE_EQ(*parse_fraction("1%"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_fraction("0.5 %"), 0.005);
  EXPECT_DOUBLE_EQ(*parse_fraction("0.02"), 0.02);
  for (const char* text : {"", "%", "-1%", "1%%", "one"}) EXPECT_FALSE(parse_fraction(text).ok()) << text;
}

TEST(Units, BytesTakeBinaryAndDecimalUnits) {
  EXPECT_EQ(*parse_bytes("4096"), 4096u);
  EXPECT_EQ(*parse_bytes("64KiB"), 65536u);
  EXPECT_EQ(*parse_bytes("8 MiB"), 8388608u);
  EXPECT_EQ(*parse_bytes("0.5KiB"), 512u);
  EXPECT_EQ(*parse_bytes("1MB"), 1000000u);
  for (const char* text : {"", "1.5", "8M", "-1", "1KiBs", "99999999999GiB"})
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
}

TEST(Units, WordsSplitAsAShellSplitsThem) {
  EXPECT_THAT(*split_words("make  CC=szc MYCFLAGS={opt}"), ElementsAre("make", "CC=szc", "MYCFLAGS={opt}"));
  EXPECT_THAT(*split_words("a 'b c'\"d e\" f\\ g ''"), ElementsAre("a", "b cd e", "f g", ""));
  EXPECT_THAT(*split_words("'a|b' \"x;y\" \\>"), ElementsAre("a|b", "x;y", ">"));
  EXPECT_THAT(*split_words("\"a\\\"b\\n\""), ElementsAre("a\"b\\n"));
  EXPECT_THAT(*split_words("  "), ElementsAre());
  std::vector<bool> quoted(7, true);
  EXPECT_THAT(*split_words("a 'b' c\"d\" e\\ f {g}", "", &quoted), ElementsAre("a", "b", "cd", "e f", "{g}"));
  EXPECT_THAT(quoted, ElementsAre(false, true, true, true, false));
}

TEST(Units, WhatOnlyAShellCanDoIsRefused) {
  for (const char* text : {"a | b", "a && b", "a; b", "a > f", "a < f", "$HOME", "\"$HOME\"", "`a`", "*.c", "(a)"}) {
    const auto words = split_words(text);
    ASSERT_FALSE(words.ok()) << text;
    EXPECT_THAT(words.error().message, HasSubstr("shell = true")) << text;
  }
  EXPECT_EQ(split_words("a | b", "name a script").error().message, "'|' needs a shell; name a script, or quote it to pass it on");
  EXPECT_EQ(split_words("\"$HOME\"", "name a script").error().message, "'$' needs a shell; name a script");
  for (const char* text : {"'a", "\"a", "a\\"}) EXPECT_FALSE(split_words(text).ok()) << text;
}

}  // namespace
}  // namespace stab::toml
