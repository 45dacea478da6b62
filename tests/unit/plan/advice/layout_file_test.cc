// What a layout file may say, and what is said of one that says something else.
#include "plan/advice/layout_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/temporary_directory.h"

namespace stab::advice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kWhole =
    "stab-layout 1\n"
    "program lua\n"
    "experiment lua-map\n"
    "workload lua/fib\n"
    "binary 0x8f3c\n"
    "cpu AMD EPYC 9B14\n"
    "measured luaV_execute: start mod 64, 0 against 16: +5.4 % [4.6, 6.1]\n"
    "place luaV_execute mod 64 at 16 bytes 5230\n"
    "place _ZN5Board4moveEv mod 4096 at 4080\n"
    "order luaV_execute\n"
    "order luaD_precall.llvm.12\n";

TEST(LayoutFile, EachLineIsReadAndWrittenAgain) {
  const auto file = parse_layout_file(kWhole, "f.layout");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->program, "lua");
  EXPECT_EQ(file->experiment, "lua-map");
  EXPECT_EQ(file->workload, "lua/fib");
  EXPECT_EQ(file->binary, "0x8f3c");
  EXPECT_EQ(file->cpu, "AMD EPYC 9B14");
  EXPECT_THAT(file->places, ElementsAre(FixedPlace{"luaV_execute", 64, 16, 5230}, FixedPlace{"_ZN5Board4moveEv", 4096, 4080, 0}));
  EXPECT_THAT(file->order, ElementsAre("luaV_execute", "luaD_precall.llvm.12"));
  EXPECT_EQ(text_of(*file), kWhole);
}

TEST(LayoutFile, BlanksEmptyLinesAndCommentsMeanNothing) {
  const auto file =
      parse_layout_file("# by hand\n\nstab-layout 1\r\n  program   a  \n cpu any\n\t\nplace f mod 32 at 0\n# end", "f.layout");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->program, "a");
}

struct Wrong {
  const char* name;
  std::string text, message;
  int line, column;
};

class WrongLayoutFile : public testing::TestWithParam<Wrong> {};

TEST_P(WrongLayoutFile, SaysWhereAndWhatIsExpected) {
  const auto file = parse_layout_file(GetParam().text, "f.layout");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kBadInput);
  EXPECT_THAT(file.error().message, HasSubstr(GetParam().message));
  EXPECT_EQ(file.error().spot.line, GetParam().line);
  EXPECT_EQ(file.error().spot.column, GetParam().column);
}

const std::string kBegin = "stab-layout 1\nprogram a\ncpu any\n";

INSTANTIATE_TEST_SUITE_P(
    Cases, WrongLayoutFile,
    testing::Values(Wrong{"Empty", "", "is empty", 0, 0}, Wrong{"AnotherFormat", "\x7f" "ELF\n", "is no layout file", 1, 1},
                    Wrong{"AnotherVersion", "stab-layout 2\n", "version '2'", 1, 13},
                    Wrong{"UnknownWord", kBegin + "plase f mod 64 at 0\n", "'plase' begins no line", 4, 1},
                    Wrong{"NoPowerOfTwo", kBegin + "place f mod 48 at 0\n", "no power of two", 4, 13},
                    Wrong{"BeyondTheModulus", kBegin + "place f mod 64 at 64\n", "from 0 to 63", 4, 19},
                    Wrong{"NoMultipleOf16", kBegin + "place f mod 64 at 8\n", "no multiple of 16", 4, 19},
                    Wrong{"NoName", kBegin + "place \n", "name is missing", 4, 7},
                    Wrong{"ANameWithAnOption", kBegin + "place f,-o,x mod 64 at 8\n", "is no name of a function", 4, 7},
                    Wrong{"NoRemainder", kBegin + "place f mod 64\n", "the line ends where 'at'", 4, 15},
                    Wrong{"More", kBegin + "place f mod 64 at 0 bytes 5 6\n", "'6' is more than", 4, 29},
                    Wrong{"Twice", kBegin + "place f mod 64 at 0\nplace f mod 64 at 16\n", "has a place already", 5, 7},
                    Wrong{"OrderedTwice", kBegin + "order f\norder f\n", "in the order already", 5, 7},
                    Wrong{"HeaderTwice", kBegin + "cpu any\nplace f mod 64 at 0\n", "'cpu' is said twice", 4, 1},
                    Wrong{"ControlCharacter", "stab-layout 1\nprogram a\x01\n", "printable", 2, 9},
                    Wrong{"NoProgram", "stab-layout 1\ncpu any\nplace f mod 64 at 0\n", "names no program", 0, 0},
                    Wrong{"AProgramsPath", "stab-layout 1\nprogram a/b\ncpu any\nplace f mod 64 at 0\n", "is a path", 0, 0},
                    Wrong{"NoCpu", "stab-layout 1\nprogram a\nplace f mod 64 at 0\n", "names no CPU model", 0, 0},
                    Wrong{"NoPlace", kBegin, "places no function", 0, 0}),
    [](const auto& wrong) { return wrong.param.name; });

TEST(LayoutFile, HasBounds) {
  std::string many = kBegin;
  for (size_t i = 0; i <= kMostFunctions; ++i) many += "place f" + std::to_string(i) + " mod 64 at 0\n";
  const auto file = parse_layout_file(many, "f.layout");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("more than 256"));
  EXPECT_EQ(file.error().spot.line, static_cast<int>(kMostFunctions) + 4);
  const auto long_one = parse_layout_file(kBegin + std::string(kMostFileBytes, '\n'), "f.layout");
  ASSERT_FALSE(long_one);
  EXPECT_THAT(long_one.error().message, HasSubstr("at most 65536"));
  EXPECT_FALSE(parse_layout_file(kBegin + "place " + std::string(kMostNameBytes + 1, 'f') + " mod 64 at 0\n", "f.layout"));
  EXPECT_TRUE(parse_layout_file(kBegin + "place " + std::string(kMostNameBytes, 'f') + " mod 64 at 0\n", "f.layout"));
}

TEST(LayoutFile, IsARegularFileOfItsSize) {
  TemporaryDirectory directory;
  EXPECT_THAT(read_layout_file(directory.path() + "/none").error().message, HasSubstr("No such file"));
  EXPECT_THAT(read_layout_file(directory.path()).error().message, HasSubstr("is not a regular file"));
  const std::string path = directory.path() + "/f.layout";
  std::ofstream(path) << kWhole;
  const auto file = read_layout_file(path);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(text_of(*file), kWhole);
  std::ofstream(path, std::ios::app) << std::string(kMostFileBytes, '#');
  EXPECT_THAT(read_layout_file(path).error().message, HasSubstr("at most 65536"));
}

TEST(LayoutFile, IsOfOneCpuModel) {
  auto file = *parse_layout_file(kWhole, "f.layout");
  EXPECT_TRUE(check_cpu(file, "AMD EPYC 9B14", "f.layout"));
  const Status other = check_cpu(file, "Xeon", "f.layout");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, testing::AllOf(HasSubstr("'AMD EPYC 9B14'"), HasSubstr("'Xeon'"), HasSubstr("cpu any")));
  EXPECT_FALSE(check_cpu(file, "", "f.layout"));
  file.cpu = kAnyCpu;
  EXPECT_TRUE(check_cpu(file, "Xeon", "f.layout"));
}

}  // namespace
}  // namespace stab::advice
