// How a fault is shown, with hostile lines too.
#include "plan/toml/diagnostic.h"

#include <gtest/gtest.h>

namespace stab::toml {
namespace {

TEST(Diagnostic, ShowsPlaceLineCaretAndHint) {
  const Diagnostic fault = diagnostic_at("a = 1\nseeed = 42\n", {"p.toml", 2, 3}, "unknown key 'seeed'",
                                         "did you mean 'seed'?");
  EXPECT_EQ(render(fault),
            "p.toml:2:3: error: unknown key 'seeed'\n"
            "  2 | seeed = 42\n"
            "    |   ^\n"
            "  hint: did you mean 'seed'?\n");
}

TEST(Diagnostic, CaretCountsCodePointsAndTabsAreOneColumn) {
  const Diagnostic fault = diagnostic_at("\tµ = \xc3\xa4x", {"p", 1, 6}, "m");
  EXPECT_EQ(render(fault), "p:1:6: error: m\n  1 |  µ = \xc3\xa4x\n    |      ^\n");
}

TEST(Diagnostic, LetsNoControlCharacterThrough) {
  Diagnostic fault = diagnostic_at("a\x1b[2J\xc2\x9b\xff", {"p\x1b", 1, 1}, "m\x07", "h\r\n");
  for (char c : render(fault)) {
    if (c == '\n') continue;
    EXPECT_GE(static_cast<unsigned char>(c), 0x20u);
  }
  EXPECT_EQ(render(fault).find("\xc2\x9b"), std::string::npos);
}

TEST(Diagnostic, LongLinesAreCutAroundTheCaret) {
  const std::string line = std::string(500, 'a') + "X" + std::string(500, 'b');
  const std::string text = render(diagnostic_at(line, {"p", 1, 501}, "m"));
  EXPECT_LT(text.size(), 300u);
  const size_t second = text.find('\n') + 1, third = text.find('\n', second) + 1;
  EXPECT_EQ(text[second + (text.find('^') - third)], 'X');
}

TEST(Diagnostic, PastTheEndIsHarmless) {
  EXPECT_EQ(render(diagnostic_at("a\n", {"p", 9, 99}, "m")), "p:9:99: error: m\n  9 | \n    | ^\n");
  EXPECT_EQ(render(diagnostic_at("", {}, "m")), "error: m\n");
}

}  // namespace
}  // namespace stab::toml
