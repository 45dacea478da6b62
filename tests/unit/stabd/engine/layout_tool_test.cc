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

TEST(LayoutHead, NamesALibraryWhateverItsNameIs) {
  const auto program = read_head("stab-layout 1 0xab 64 3 1000");
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->text_hash, "0xab");
  EXPECT_EQ(program->slot_bytes, 64u);
  EXPECT_EQ(program->text_start, 0x1000u);
  EXPECT_EQ(program->library, "");
  const auto library = read_head("stab-layout 1 0xab 64 3 1000 lib my work.so");
  ASSERT_TRUE(library.has_value());
  EXPECT_EQ(library->library, "lib my work.so");
  for (const char* wrong : {"", "stab-layout 2 0xab 64 3 1000", "stab-layout 1 0xab 64 3", "stab-layout 1 0xab x 3 1000"})
    EXPECT_FALSE(read_head(wrong).has_value()) << wrong;
}

Ran read_libraries(const std::string& text) {
  const auto ran = read_dose(R"({"settings":{"code":"shuffle","stack":"off","seed":"0x1"},"code":{},"libraries":)" + text + "}");
  EXPECT_TRUE(ran.ok());
  return ran.ok() ? *ran : Ran();
}

TEST(ReadDose, KnowsLibrariesThatMoved) {
  const Ran ran = read_libraries(R"([{"path":"/lib/a.so","text_hash":"0x12","drawn_by":"0xff","text_address":1,"ring_address":2,)"
                                 R"("slot_bytes":3,"first_image":4}])");
  ASSERT_EQ(ran.libraries.size(), 1u);
  const MovedFile& file = ran.libraries[0];
  EXPECT_EQ(file.path, "/lib/a.so");
  EXPECT_EQ(file.text_hash, "0x12");
  EXPECT_EQ(file.drawn_by, 255u);
  EXPECT_EQ(file.text_address + 10 * file.ring_address + 100 * file.slot_bytes + 1000 * file.first_image, 4321u);
}

// A report is what the program's user makes of it.
TEST(ReadDose, AsksForNoFileThatCantBeOne) {
  const char* const strange = R"([7,"x",{"path":"/a"},{"path":"/a","drawn_by":"0x0"},{"path":"/a","drawn_by":5}])";
  EXPECT_TRUE(read_libraries(strange).libraries.empty());
  EXPECT_TRUE(read_libraries(R"({"path":"/a","drawn_by":"0x1"})").libraries.empty());
  for (const char* path : {"--match", "a.so", "", "/a\\u001b[2Jb"}) {
    const Ran ran = read_libraries(std::string(R"([{"drawn_by":"0x1","path":")") + path + "\"}]");
    ASSERT_EQ(ran.libraries.size(), 1u) << path;
    EXPECT_EQ(ran.libraries[0].path, "") << path;
  }
}

TEST(ReadDose, AsksForNoMoreFilesThanCanMove) {
  std::string many = R"({"path":"/a","drawn_by":"0x1"})";
  for (int i = 1; i < 10'000; ++i) many += R"(,{"path":"/a","drawn_by":"0x1"})";
  EXPECT_EQ(read_libraries("[" + many + "]").libraries.size(), 48u);
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
