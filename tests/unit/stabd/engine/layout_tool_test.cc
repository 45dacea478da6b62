#include "stabd/engine/results/layout_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stabd/engine/experiment/stop_signal.h"
#include "tests/places.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LayoutToolTest : public testing::Test {
 protected:
  LayoutTool tool(const std::string& program) {
    LayoutTool tool{program, {}, nullptr, {}};
    tool.reader.start = started_here(STAB_LAUNCHER);
    tool.reader.clock = &clock_;
    return tool;
  }
  // A program in place of stab-layout, which gets its words.
  LayoutTool script(const std::string& text) {
    return tool(folder_.write("tool", "#!/bin/sh\n" + text + "\n", 0755));
  }

  TemporaryDirectory folder_;
  SystemClock clock_;
};

TEST_F(LayoutToolTest, WhatEndsWellIsReadWhole) {
  const auto output = script("echo \"$@\"; cat").output({folder_.write("binary", "inside\n"), true}, {"--seed", "0"}, Ran{}, "");
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_EQ(*output, "- --seed 0\ninside\n") << "what is kept is handed over open";
}

TEST_F(LayoutToolTest, WhatIsNotKeptItOpensItself) {
  const auto output = script("echo \"$@\"; cat").output({"/old/place", false}, {"--seed", "0"}, Ran{}, "");
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_EQ(*output, "/old/place --seed 0\n");
}

TEST_F(LayoutToolTest, WhatHasNoEndIsEndedAndSaid) {
  const auto output = script("exec yes 0123456789012345678901234567890").output({"/old/place", false}, {}, Ran{}, "");
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(output.error().message,
              AllOf(HasSubstr("takes more than 256 MiB"), HasSubstr("look at fewer functions with only = [...]")));
}

TEST_F(LayoutToolTest, MoreFunctionsThanAProgramHasAreRefused) {
  std::string text = "stab-layout 1 0x0 64 0 0\n";
  for (size_t i = 0; i < size_t{1} << 20; ++i) text += "\n";
  const auto lines = lines_of_functions(text);
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(lines->size(), (size_t{1} << 20) + 2);
  const auto more = lines_of_functions(text + "\n");
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(more.error().message, HasSubstr("map a program with fewer"));
}

TEST_F(LayoutToolTest, WhatTakesTooLongIsEndedAndSaid) {
  LayoutTool slow = script("exec sleep 600");
  slow.until = clock_.monotonic_raw() + std::chrono::milliseconds(1200);
  const auto output = slow.output({"/old/place", false}, {}, Ran{}, "");
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(output.error().message, HasSubstr("took more than 1 s and was ended"));
  const auto later = slow.output({"/old/place", false}, {}, Ran{}, "");
  ASSERT_FALSE(later.ok());
  EXPECT_THAT(later.error().message, HasSubstr("more than the 15 min that an experiment has for it"));
}

TEST_F(LayoutToolTest, ASignalToGiveUpEndsIt) {
  StopSignal stop;
  stop.now();
  LayoutTool slow = script("exec sleep 600");
  slow.reader.cancel_fd = stop.now_fd();
  const auto output = slow.output({"/old/place", false}, {}, Ran{}, "");
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().code, ErrorCode::kBusy);
}

TEST_F(LayoutToolTest, WhyItFailsIsSaidWithoutWhatCouldDriveATerminal) {
  const auto output = script("printf 'no\\033[2J' >&2; exit 3").output({"/old/place", false}, {}, Ran{}, "");
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(output.error().message, AllOf(HasSubstr("'/old/place'"), HasSubstr("exit status 3"), HasSubstr("no?[2J")));
}

TEST_F(LayoutToolTest, APartThatIsMissingIsNamed) {
  const auto output = tool(folder_.path() + "/none").output({"/old/place", false}, {}, Ran{}, "");
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stab::engine
