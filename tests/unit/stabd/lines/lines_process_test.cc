// The process that answers questions about lines, with all that it has taken from itself: whole files, stripped ones whose debug
// information is elsewhere and compressed, and those that are none.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "stabd/lines/wire/lines_wire.h"
#include "tests/places.h"
#include "tests/unit/temporary_directory.h"

namespace stab::lines {
namespace {

class LinesProcess : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("program.c", "int twice(int x) {\n  return x * 2;\n}\nint main(int argc, char** argv) {\n  (void)argv;\n"
                               "  return twice(argc);\n}\n");
    in_folder("cc -g -O0 -gz -Wl,--build-id program.c -o program");
  }
  void in_folder(const std::string& command) { ASSERT_EQ(std::system(("cd " + folder_.path() + " && " + command).c_str()), 0); }

  // What stab-lines says of all code in these files.
  Result<Answer> ask(const std::vector<std::string>& files) {
    Request request;
    request.unit = static_cast<uint32_t>(Unit::kFunction);
    request.scope = {"%"};
    for (const std::string& file : files) request.modules.push_back({folder_.path() + "/" + file, ""});
    request.wanted = {{"program.c", 0, "twice"}};
    request.whole_scope = true;
    folder_.write("request", encode(request));
    const int status = std::system((std::string(STAB_LINES) + " < " + folder_.path() + "/request > " + folder_.path() +
                                    "/answer 2> " + folder_.path() + "/error")
                                       .c_str());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return Error{ErrorCode::kInternal, "status " + std::to_string(status) + ": " + folder_.read("error"), {}};
    return decode_answer(folder_.read("answer"), request);
  }
  static Reading reading(const Answer& answer, size_t module) { return static_cast<Reading>(answer.modules[module].reading); }

  TemporaryDirectory folder_;
};

TEST_F(LinesProcess, ReadsAProgram) {
  const auto answer = ask({"program"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->failure, "");
  EXPECT_EQ(reading(*answer, 0), Reading::kLines) << answer->modules[0].why;
  ASSERT_EQ(answer->ranges.size(), 1u);
  EXPECT_EQ(answer->ranges[0].ranges.size(), 1u);
  EXPECT_FALSE(answer->scope.ranges.empty());
}

TEST_F(LinesProcess, FindsADebugFile) {
  in_folder("objcopy --only-keep-debug program program.debug && "
            "objcopy --strip-debug --add-gnu-debuglink=program.debug program bare");
  const auto answer = ask({"bare"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(reading(*answer, 0), Reading::kLines) << answer->modules[0].why;
  EXPECT_EQ(answer->modules[0].debug_file, folder_.path() + "/program.debug");
}

// Split debug information is opened by LLVM's library itself.
TEST_F(LinesProcess, ReadsSplitDebugInformation) {
  in_folder("cc -g -gsplit-dwarf -O0 program.c -o split");
  const auto answer = ask({"split"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(reading(*answer, 0), Reading::kLines) << answer->modules[0].why;
  EXPECT_FALSE(answer->scope.ranges.empty());
}

TEST_F(LinesProcess, SaysWhatIsNone) {
  in_folder("echo text > text && mkfifo pipe && mkdir folder && head -c 3000 program > half");
  const auto answer = ask({"text", "pipe", "folder", "half", "none"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NE(reading(*answer, i), Reading::kLines) << i;
    EXPECT_NE(answer->modules[i].why, "") << i;
  }
}

}  // namespace
}  // namespace stab::lines
