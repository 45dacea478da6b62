#include "base/printable.h"

#include <gtest/gtest.h>

namespace stab {
namespace {

TEST(Printable, WhatDrivesATerminalIsAQuestionMark) {
  EXPECT_EQ(printable("a\x1b[2J\x7f\u009bz\n\t"), "a?[2J??z\n\t");
  EXPECT_EQ(one_line("a\nb\tc"), "a b c");
  EXPECT_TRUE(has_control("\u0085"));
  EXPECT_FALSE(has_control("-O2, größer, 日本語, עברית, a\u00a0b"));
  EXPECT_EQ(printable("größer, 日本語, עברית"), "größer, 日本語, עברית");
}

// "user\u202egpj.exe" is shown as "userexe.jpg".
TEST(Printable, NothingTurnsTheDirectionOfText) {
  for (const char* one :
       {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    EXPECT_TRUE(has_control(std::string("a") + one + "b"));
    EXPECT_EQ(printable(std::string("a") + one + "b"), "a?b");
  }
  for (const char* one : {"\u2010", "\u2029x", "\u2065", "\u206a", "\u061b", "\xe2\x80", "\xe2", "\xd8"})
    EXPECT_FALSE(has_control(one)) << one;
}

}  // namespace
}  // namespace stab
