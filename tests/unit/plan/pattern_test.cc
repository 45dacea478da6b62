// What 'stdout_regex' takes, and that no pair of pattern and text takes long or much memory.
#include "plan/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab::plan {
namespace {

using testing::HasSubstr;

bool found(std::string_view text, const std::string& pattern) {
  const Result<bool> result = matches(text, pattern);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result && *result;
}

TEST(Pattern, MatchesAnywhereInTheText) {
  EXPECT_TRUE(found("total 17 ok\n", "total [0-9]+ ok"));
  EXPECT_FALSE(found("total 17 ok\n", "^ok"));
  EXPECT_TRUE(found("a\nprimes: 7\nb\n", "(?m)^primes: \\d+$"));
  EXPECT_FALSE(found("a\nprimes: 7\nb\n", "^primes"));
  EXPECT_TRUE(found("größe 3", "^gr[äö]ße"));
  EXPECT_TRUE(found(std::string("\0\xff ok", 5), "ok$")) << "output need not be text";
}

TEST(Pattern, SaysWhatTheSyntaxDoesNotHave) {
  for (const char* pattern : {"(?=ahead)x", "x(?!not)", "(?<=behind)x", "(a)\\1"}) {
    const Status refused = check_pattern(pattern);
    ASSERT_FALSE(refused.ok()) << pattern;
    EXPECT_EQ(refused.error().code, ErrorCode::kBadInput);
    EXPECT_THAT(refused.error().message, HasSubstr(pattern));
    EXPECT_THAT(refused.error().message, HasSubstr("neither lookaround nor backreferences"));
    EXPECT_FALSE(matches("text", pattern).ok());
  }
  EXPECT_THAT(check_pattern("primes: [0-9").error().message, HasSubstr("missing ]: [0-9 at its column 9"));
  EXPECT_THAT(check_pattern("a{1,2000}").error().message, HasSubstr("at its column 2"));
}

TEST(Pattern, CompiledPatternsHaveABound) {
  EXPECT_FALSE(check_pattern("((((\\pL{100}){100}){100}){100})").ok());
}

// Backtracking matchers need more time than there is, recursive ones more stack.
TEST(Pattern, NoTextTakesLong) {
  const std::string many = std::string(1 << 20, 'a') + "b";
  EXPECT_FALSE(found(many, "(a+)+$"));
  EXPECT_FALSE(found(many, "(a|aa)+$"));
  EXPECT_FALSE(found(many, "(a*)*c"));
  EXPECT_TRUE(found("ok" + many + "done", "ok.*done"));
}

}  // namespace
}  // namespace stab::plan
