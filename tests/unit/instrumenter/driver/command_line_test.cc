// What is read from the user's arguments before clang sees them.
#include "instrumenter/driver/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>

#include "tests/unit/temporary_directory.h"

namespace stab::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<CommandLine> parse(Arguments words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return CommandLine::parse(pointers);
}

CommandLine parsed(Arguments words) {
  auto line = parse(std::move(words));
  EXPECT_TRUE(line) << line.error().text();
  return std::move(line).value();
}

// The words of a response file whose every line is a word between double quotes.
Arguments words_in(const std::string& argument) {
  Arguments words;
  std::ifstream file(argument.substr(1));
  for (std::string word; file >> std::quoted(word);) words.push_back(word);
  return words;
}

TEST(CommandLine, KnowsWhatSurelyDoesNotLink) {
  EXPECT_TRUE(parsed({"-O2", "-c", "a.c"}).only_compiles);
  EXPECT_TRUE(parsed({"-E", "a.c"}).only_compiles);
  EXPECT_FALSE(parsed({"a.c", "-o", "a"}).only_compiles);
  EXPECT_FALSE(parsed({"-o", "-c", "a.c"}).only_compiles) << "-c is a file name here";
  EXPECT_FALSE(parsed({"-Xlinker", "-E", "a.o"}).only_compiles);
}

TEST(CommandLine, TakesStrippingOutInAllItsForms) {
  EXPECT_THAT(parsed({"-s", "a.c"}).arguments, ElementsAre("a.c"));
  EXPECT_THAT(parsed({"a.c", "-Wl,-O1,-s,--as-needed"}).arguments, ElementsAre("a.c", "-Wl,-O1,--as-needed"));
  EXPECT_THAT(parsed({"a.c", "-Wl,--strip-all"}).arguments, ElementsAre("a.c"));
  EXPECT_THAT(parsed({"-Xlinker", "-s", "a.c"}).arguments, ElementsAre("a.c"));
  EXPECT_TRUE(parsed({"a.c", "-Wl,-s"}).strips);
  EXPECT_FALSE(parsed({"a.c", "-Wl,--build-id", "-o", "-s"}).strips);
}

TEST(CommandLine, ReadsWhatALinkIsStrictAbout) {
  EXPECT_FALSE(parsed({"a.c"}).strict);
  EXPECT_EQ(parsed({"--stab-strict", "a.c"}).strict, postlink::Factors::all());
  EXPECT_THAT(parsed({"--stab-strict", "a.c"}).arguments, ElementsAre("a.c"));
  EXPECT_EQ(parsed({"--stab-strict=code,heap"}).strict, (postlink::Factors{.code = true, .stack = false, .heap = true}));
  for (const char* wrong : {"--stab-strict=", "--stab-strict=code,", "--stab-strict=all"}) {
    const auto line = parse({wrong});
    ASSERT_FALSE(line) << wrong;
    EXPECT_THAT(line.error().message, HasSubstr("expected a list of 'code', 'stack' and 'heap'"));
  }
}

TEST(CommandLine, LeavesClangsOwnCommandsAlone) {
  for (const char* first : {"-cc1", "-cc1as", "-cc1gen-reproducer", "-fc1"}) {
    const CommandLine line = parsed({first, "-s", "--stab-strict", "-pg"});
    EXPECT_TRUE(line.is_inner) << first;
    EXPECT_THAT(line.arguments, ElementsAre(first, "-s", "--stab-strict", "-pg"));
  }
  EXPECT_FALSE(parsed({"a.c", "-cc1"}).is_inner) << "clang takes it for an option that it doesn't know";
}

TEST(CommandLine, KnowsThinBackends) {
  EXPECT_TRUE(parsed({"-c", "a.o", "-fthinlto-index=a.bc"}).is_thin_backend);
  EXPECT_FALSE(parsed({"-c", "a.o", "-fthinlto-index=/dev/null"}).is_thin_backend) << "an ordinary compilation";
}

TEST(CommandLine, RefusesWhatCannotWork) {
  for (const char* option : {"-pg", "-fsanitize=address", "-fsanitize=undefined,thread", "-fsanitize=cfi-icall",
                             "-fsanitize-minimal-runtime"}) {
    const CommandLine line = parsed({"-O2", option, "a.c"});
    ASSERT_TRUE(line.refused) << option;
    EXPECT_THAT(line.refused->message, HasSubstr(option));
  }
  EXPECT_FALSE(parsed({"-fsanitize=undefined", "-g", "a.c"}).refused);
  EXPECT_FALSE(parsed({"-o", "-pg", "a.c"}).refused) << "a file name";
}

TEST(CommandLine, SeesWhatMayNameAnotherTarget) {
  for (const Arguments& options :
       {Arguments{"--target=wasm32"}, {"-target", "wasm32"}, {"-m32"}, {"-mx32"}, {"-m16"}, {"--config=a"}}) {
    Arguments words = options;
    words.push_back("a.c");
    EXPECT_TRUE(parsed(words).may_be_other_target) << options[0];
    EXPECT_THAT(parsed(words).arguments, testing::ElementsAreArray(words));
  }
  EXPECT_FALSE(parsed({"-m64", "-march=native", "-o", "-m32", "a.c"}).may_be_other_target);
  EXPECT_EQ(parsed({"-m32", "a.c"}).narrow, "-m32");
  EXPECT_EQ(parsed({"--target=i386-linux-gnu", "a.c"}).narrow, "");
}

TEST(CommandLine, TakesOutWhatMoves) {
  EXPECT_FALSE(parsed({"a.c"}).move_all);
  const CommandLine all = parsed({"--stab-move=all", "a.c"});
  EXPECT_TRUE(all.move_all);
  EXPECT_THAT(all.arguments, ElementsAre("a.c"));
  EXPECT_FALSE(parsed({"--stab-move=all", "--stab-move=listed", "a.c"}).move_all) << "the last one wins";
  const auto wrong = parse({"--stab-move=some", "a.c"});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("expected 'listed'"));
}

TEST(CommandLine, NamesAnOptionThatStabDoesNotHave) {
  const auto why = [](const char* option) {
    const auto line = parse({option, "a.c"});
    return line ? std::string() : line.error().message;
  };
  EXPECT_EQ(why("--stab-parst"), "there is no option '--stab-parst'; did you mean '--stab-parts'?");
  EXPECT_EQ(why("--stab-move"), "there is no option '--stab-move'; did you mean '--stab-move='?");
  EXPECT_EQ(why("--stab-nonsense"), "there is no option '--stab-nonsense'; szc(1) lists those of szc's own");
  EXPECT_EQ(parsed({"-o", "--stab-parst", "a.c"}).arguments.size(), 3u) << "a file's name";
}

TEST(CommandLine, ReadsResponseFilesAndPassesThemOn) {
  const TemporaryDirectory directory;
  const std::string name = directory.write("options.rsp", "-O2 -c\n \"a b.c\" 'c d.c' e\\ f.c");
  const CommandLine line = parsed({"@" + name});
  EXPECT_TRUE(line.only_compiles);
  EXPECT_THAT(line.arguments, ElementsAre("@" + name));
  const CommandLine stripping = parsed({"-s", "@" + name, "-Xlinker", "--strip-all", ""});
  EXPECT_TRUE(stripping.strips);
  EXPECT_THAT(stripping.arguments, ElementsAre("@" + name, "")) << "the file need not change";
  directory.write("options.rsp", "@" + name);
  EXPECT_FALSE(parse({"@" + name})) << "a file that names itself";
}

TEST(CommandLine, WhatIsTakenOutOfAResponseFileLeavesAnother) {
  const TemporaryDirectory directory;
  const std::string inner = directory.write("inner.rsp", "--stab-pads=all \"q\\\"u'o t e\"");
  const std::string outer = directory.write("outer.rsp", "-O2 'i\\'t' -s\n@" + inner + " -Wl,-s,-O1 -Xlinker -s back\\\\slash");
  const CommandLine line = parsed({"a.c", "@" + outer, "-o", "a"});
  EXPECT_TRUE(line.strips && line.pads_all);
  ASSERT_EQ(line.arguments.size(), 4u);
  EXPECT_EQ(line.arguments[0], "a.c");
  EXPECT_EQ(line.arguments[3], "a");
  EXPECT_THAT(words_in(line.arguments[1]), ElementsAre("-O2", "i't", "q\"u'o t e", "-Wl,-O1", "back\\slash"));
  directory.write("inner.rsp", "-s");
  EXPECT_THAT(parsed({"a.c", "@" + inner}).arguments, ElementsAre("a.c", testing::StartsWith("@"))) << "an empty file";
}

TEST(CommandLine, TakesVisitedFunctionsOut) {
  const CommandLine line = parsed({"--stab-visit=move,_ZN5Board4playEv", "-c", "--stab-visit=think", "a.cc"});
  EXPECT_EQ(line.visited, "move,_ZN5Board4playEv,think");
  EXPECT_THAT(line.arguments, ElementsAre("-c", "a.cc"));
  EXPECT_EQ(parsed({"a.cc"}).visited, "");
  for (const char* wrong : {"--stab-visit=", "--stab-visit=a b", "--stab-visit=a=b"}) {
    const auto refused = parse({wrong, "a.cc"});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message, HasSubstr("expected the names of functions as the linker knows them"));
  }
}

TEST(CommandLine, TakesTheLayoutFileOut) {
  const CommandLine line = parsed({"--stab-layout=/l/a.layout", "-c", "a.c", "--stab-layout=/l/a.layout"});
  EXPECT_EQ(line.layout_file, "/l/a.layout");
  EXPECT_THAT(line.arguments, ElementsAre("-c", "a.c"));
  EXPECT_EQ(parsed({"a.c"}).layout_file, "");
  const auto two = parse({"--stab-layout=a", "--stab-layout=b", "a.c"});
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("obeys one layout file"));
  EXPECT_FALSE(parse({"--stab-layout=", "a.c"}));
}

TEST(CommandLine, TakesTheChoiceOfPadsOut) {
  const CommandLine all = parsed({"--stab-pads=all", "-c", "a.c"});
  EXPECT_TRUE(all.pads_all);
  EXPECT_THAT(all.arguments, ElementsAre("-c", "a.c"));
  EXPECT_FALSE(parsed({"a.c"}).pads_all);
  EXPECT_FALSE(parsed({"--stab-pads=all", "--stab-pads=long", "a.c"}).pads_all) << "the last one wins";
  const auto wrong = parse({"--stab-pads=short", "a.c"});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("'--stab-pads=short': expected 'long'"));
  const TemporaryDirectory directory;
  const std::string file = "@" + directory.write("options.rsp", "-O2 a.c");
  EXPECT_THAT(parsed({"--stab-pads=all", file}).arguments, ElementsAre(file));
  directory.write("options.rsp", "-O2 a.c --stab-pads=all");
  const CommandLine in_file = parsed({file});
  EXPECT_THAT(words_in(in_file.arguments.at(0)), ElementsAre("-O2", "a.c"));
  EXPECT_TRUE(in_file.pads_all);
}

TEST(CommandLine, InfoTakesAFile) {
  EXPECT_EQ(parsed({"--stab-info", "prog"}).info_file, "prog");
  EXPECT_FALSE(parse({"--stab-info"}));
}

}  // namespace
}  // namespace stab::driver
