// The commands that come out.
#include "instrumenter/driver/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "instrumenter/driver/cache_key.h"
#include "tests/unit/temporary_directory.h"

namespace stab::driver {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Toolchain kTools{.language = Language::kC,
                       .target = "",
                       .llvm = {},
                       .compiler = "/usr/bin/clang-19",
                       .pass_plugin = "/root/pass.so",
                       .runtime = "/root/rt.o",
                       .static_runtime = "/root/rt-static.a",
                       .operators = "/root/new.o",
                       .library_entry = "/root/lib.o",
                       .include = "/root/include",
                       .post_linker = "/root/stab-postlink"};
const CommandLine kLine{.arguments = {"a.c", "--", "b.c"}, .info_file = {}};
const LinkJob kProgram{.linker = "ld.lld", .kind = LinkerKind::kOurLld, .output = "prog", .files = {}, .libc = Libc::kGlibc};

TEST(Steps, LibrariesOfOtherCompilersCodeRegisterIt) {
  LinkJob library = kProgram;
  library.shared = true;
  CommandLine line = kLine;
  EXPECT_THAT(link_command(kTools, line, library, {}), Not(Contains("-Wl,/root/lib.o")));
  line.move_all = true;
  EXPECT_THAT(link_command(kTools, line, library, {}), Contains("-Wl,/root/lib.o"));
  EXPECT_THAT(link_command(kTools, line, kProgram, {}), Not(Contains("-Wl,/root/lib.o")));
}

TEST(Steps, TheUsersArgumentsComeLastAndUnchanged) {
  const Arguments command = link_command(kTools, kLine, kProgram, {});
  ASSERT_GT(command.size(), 3u);
  EXPECT_EQ(Arguments(command.end() - 3, command.end()), kLine.arguments);
  EXPECT_THAT(command, Contains("-Wl,--emit-relocs"));
  EXPECT_THAT(command, Contains("-Wl,/root/rt.o"));
}

TEST(Steps, OtherTargetsGetNothingOfOurs) {
  EXPECT_THAT(other_target_command(kTools, kLine), ElementsAre("/usr/bin/clang-19", "a.c", "--", "b.c"));
  CommandLine line = kLine;
  line.strips = true;
  EXPECT_THAT(other_target_command(kTools, line), ElementsAre("/usr/bin/clang-19", "-s", "a.c", "--", "b.c"));
}

TEST(Steps, BitcodeIsMadeWithoutThePassAndWithItsMarks) {
  CommandLine line = kLine;
  line.only_compiles = line.pads_all = line.emits_bitcode = true;
  const Arguments command = compile_command(kTools, line);
  EXPECT_THAT(command, Not(Contains(HasSubstr("-fpass-plugin="))));
  EXPECT_THAT(command, Contains("stab-pad-short"));
  line.emits_bitcode = false;
  EXPECT_THAT(compile_command(kTools, line), Contains("-fpass-plugin=/root/pass.so"));
}

TEST(Steps, FunctionsAreMarkedAsTheChoiceOfPadsSays) {
  const auto marked = [](const CommandLine& line, const LinkJob& job) {
    Arguments marks;
    for (const Arguments& command : {compile_command(kTools, line), link_command(kTools, line, job, {})})
      for (const std::string& word : command)
        if (word == "stab-no-pad" || word == "stab-pad-short") marks.push_back(word);
    return marks;
  };
  EXPECT_THAT(marked(kLine, kProgram), IsEmpty());
  CommandLine all = kLine;
  all.pads_all = true;
  EXPECT_THAT(marked(all, kProgram), ElementsAre("stab-pad-short", "stab-pad-short"));
  all.freestanding = true;
  EXPECT_THAT(marked(all, kProgram), ElementsAre("stab-no-pad", "stab-no-pad"));
}

TEST(Steps, StaticProgramsGetTheStaticRuntimeAndWrappers) {
  LinkJob job = kProgram;
  job.is_static = true;
  const Arguments command = link_command(kTools, kLine, job, {});
  EXPECT_THAT(command, Contains("-Wl,--whole-archive,/root/rt-static.a,--no-whole-archive"));
  EXPECT_THAT(command, Contains(HasSubstr("--wrap=__libc_start_main")));
  EXPECT_THAT(command, Not(Contains(HasSubstr("--export-dynamic-symbol"))));
}

TEST(Steps, ProgramsThatWrapOperatorsGetNoneOfOurs) {
  for (const bool is_static : {false, true}) {
    LinkJob job = kProgram;
    job.is_static = is_static;
    EXPECT_THAT(link_command(kTools, kLine, job, {}), Contains("-Wl,/root/new.o"));
    job.wraps_operators = true;
    EXPECT_THAT(link_command(kTools, kLine, job, {}), Not(Contains("-Wl,/root/new.o")));
  }
}

TEST(Steps, WhatAFailingNewCallsComesOutOfTheArchive) {
  LinkJob job = kProgram;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Not(Contains(HasSubstr("throw_bad_alloc"))));
  job.with_cxx_archive = true;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Contains(HasSubstr("-u,_ZSt17__throw_bad_allocv")));
}

// A static program's operators find libc's own function behind ours.
TEST(Steps, TheRuntimeIsToldWhatOperatorsOfAnArchiveTake) {
  LinkJob job = kProgram;
  job.archive_takes_posix_memalign = true;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Not(Contains(HasSubstr("stab_operators_take"))));
  job.with_cxx_archive = true;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Contains(HasSubstr("--defsym=stab_operators_take=posix_memalign")));
  job.archive_takes_posix_memalign = false;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Contains(HasSubstr("--defsym=stab_operators_take=aligned_alloc")));
  job.is_static = true;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Not(Contains(HasSubstr("stab_operators_take"))));
}

TEST(Steps, LibrariesAndPartialLinksGetNoRuntime) {
  LinkJob job = kProgram;
  job.shared = true;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Not(Contains(HasSubstr("rt.o"))));
  job.relocatable = true;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Not(Contains("-Wl,--emit-relocs")));
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Contains("-Wl,--load-pass-plugin=/root/pass.so"));
  EXPECT_FALSE(needs_post_link(job));
}

TEST(Steps, TheLinkerStripsWhatGetsNoPostLink) {
  CommandLine line = kLine;
  line.strips = true;
  EXPECT_THAT(link_command(kTools, line, kProgram, {}), Not(Contains("-s")));
  EXPECT_THAT(post_link_command(kTools, line, kProgram, "", {}), Contains("--strip"));
  EXPECT_THAT(post_link_command(kTools, line, kProgram, "", {}), Contains("--only-listed"));
  line.move_all = true;
  EXPECT_THAT(post_link_command(kTools, line, kProgram, "", {}), Contains("--move-all"));
  LinkJob bare = kProgram;
  bare.libc = Libc::kNone;
  EXPECT_THAT(link_command(kTools, line, bare, {}), Contains("-s"));
  EXPECT_THAT(link_command(kTools, kLine, bare, {}), Not(Contains("-s")));
  EXPECT_THAT(compile_command(kTools, line), Contains("-s")) << "for a linker we don't recognize";
  line.only_compiles = true;
  EXPECT_THAT(compile_command(kTools, line), Not(Contains("-s")));
}

TEST(Steps, TheOutputIsHeldToItsLayoutFile) {
  const Arguments held = post_link_command(kTools, kLine, kProgram, "/l/a.layout", {});
  EXPECT_EQ(Arguments(held.end() - 2, held.end()), (Arguments{"--layout", "/l/a.layout"}));
  EXPECT_THAT(post_link_command(kTools, kLine, kProgram, "", {}), Not(Contains("--layout")));
  EXPECT_THAT(ordering_options("/o"), Contains("-Wl,--symbol-ordering-file=/o"));
}

TEST(Steps, LldIsToldOfObjectsThatWantAnExecutableStack) {
  LinkJob job = kProgram;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Not(Contains("-Wl,-z,execstack")));
  job.executable_stack = true;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Contains("-Wl,-z,execstack"));
}

TEST(Steps, LinkTimeOptimizationFindsThePassInTheLinker) {
  LinkJob job = kProgram;
  EXPECT_THAT(link_command(kTools, kLine, job, {}), Contains("-Wl,--load-pass-plugin=/root/pass.so"));
  for (const LinkerKind other : {LinkerKind::kOtherLld, LinkerKind::kGold, LinkerKind::kMold, LinkerKind::kOther}) {
    job.kind = other;
    EXPECT_THAT(link_command(kTools, kLine, job, {}), Not(Contains(HasSubstr("--load-pass-plugin"))));
  }
  LinkJob bare = kProgram;
  bare.is_static = true;
  bare.libc = Libc::kNone;
  EXPECT_THAT(link_command(kTools, kLine, bare, {}), Not(Contains(HasSubstr("--load-pass-plugin"))));
}

TEST(Steps, PostLinkIsToldWhatIsStrict) {
  const postlink::Factors two{.code = true, .stack = false, .heap = true};
  EXPECT_THAT(post_link_command(kTools, kLine, kProgram, "", two), Contains("code,heap"));
  EXPECT_THAT(post_link_command(kTools, kLine, kProgram, "", {}), Not(Contains("--strict")));
}

TEST(Steps, TheTargetOfTheNameComesFirst) {
  Toolchain tools = kTools;
  tools.target = "x86_64-linux-gnu";
  for (const Arguments& command : {compile_command(tools, kLine), link_command(tools, kLine, kProgram, {}),
                                   other_target_command(tools, kLine)})
    EXPECT_EQ(command[1], "--target=x86_64-linux-gnu");
}

TEST(Steps, WhatClangRunsItselfByIsUnchanged) {
  EXPECT_THAT(inner_command(kTools, {.arguments = {"-cc1", "-version"}, .info_file = {}}),
              ElementsAre("/usr/bin/clang-19", "-cc1", "-version"));
}

TEST(CacheKey, FollowsThePassAndItsPlaces) {
  TemporaryDirectory directory;
  const std::string plugin = directory.path() + "/pass.so";
  const auto key = [&](const char* bytes, const char* places) {
    std::ofstream(plugin) << bytes;
    return cache_key_option(plugin, places);
  };
  const std::string first = key("one", "");
  EXPECT_EQ(key("one", ""), first);
  EXPECT_NE(key("two", ""), first);
  EXPECT_NE(key("one", "f 64 0\n"), first);
}

TEST(DriverName, IsReadAsClangReadsItsOwn) {
  const auto reads = [](const char* name, Language language, const char* target) {
    const DriverName read = DriverName::read(name);
    return read.language == language && read.target == target;
  };
  for (const char* name : {"szc++", "c++", "g++", "g++-12", "clang++-19", "g++-12.2", "c++.real", "my-g++-13"})
    EXPECT_TRUE(reads(name, Language::kCxx, "")) << name;
  EXPECT_TRUE(reads("x86_64-linux-gnu-g++-12", Language::kCxx, "x86_64-linux-gnu"));
  EXPECT_TRUE(reads("aarch64-linux-gnu-gcc", Language::kC, "aarch64-linux-gnu"));
  for (const char* name : {"szc", "cc", "gcc-12", "clang-19", "my-cc"}) EXPECT_TRUE(reads(name, Language::kC, "")) << name;
  for (const char* name : {"szflang", "flang-new-19", "gfortran-12"}) EXPECT_TRUE(reads(name, Language::kFortran, "")) << name;
}

TEST(DriverName, OursMayNameAnLlvm) {
  const auto llvm = [](const char* name) { return DriverName::read(name).llvm; };
  EXPECT_EQ(llvm("szc-22"), "22");
  EXPECT_EQ(llvm("szc++-22"), "22");
  EXPECT_EQ(llvm("x86_64-linux-gnu-szc-22"), "22");
  for (const char* name : {"szc", "szflang", "g++-12", "clang-19", "x86_64-linux-gnu-szc"}) EXPECT_EQ(llvm(name), "") << name;
}

class LinkOrderTest : public testing::Test {
 protected:
  ~LinkOrderTest() override {
    unsetenv("STAB_LINK_SEED");
    unsetenv("STAB_LINK_DATA");
  }
};

TEST_F(LinkOrderTest, SeedsCodeAndOnDemandData) {
  setenv("STAB_LINK_SEED", "41", 1);
  auto order = LinkOrder::from_environment();
  ASSERT_TRUE(order);
  const Arguments code = link_command(kTools, kLine, kProgram, *order);
  EXPECT_THAT(code, Contains("-Wl,--shuffle-sections=.text*=42"));
  EXPECT_THAT(code, Not(Contains(HasSubstr(".data*"))));
  setenv("STAB_LINK_DATA", "1", 1);
  order = LinkOrder::from_environment();
  ASSERT_TRUE(order);
  EXPECT_THAT(link_command(kTools, kLine, kProgram, *order), Contains("-Wl,--shuffle-sections=.data*=42"));
}

TEST_F(LinkOrderTest, RefusesWhatIsNoSeed) {
  setenv("STAB_LINK_SEED", "4x", 1);
  EXPECT_FALSE(LinkOrder::from_environment());
  setenv("STAB_LINK_SEED", "4", 1);
  setenv("STAB_LINK_DATA", "yes", 1);
  EXPECT_FALSE(LinkOrder::from_environment());
}

}  // namespace
}  // namespace stab::driver
