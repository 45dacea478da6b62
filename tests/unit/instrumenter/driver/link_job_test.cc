// Reading the link step out of clang's -### output.
#include "instrumenter/driver/link_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temporary_directory.h"

namespace stab::driver {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

constexpr char kHead[] = "Debian clang version 19.1.7\nTarget: x86_64-pc-linux-gnu\nInstalledDir: /usr/bin\n";
constexpr char kCompile[] = " \"/usr/lib/llvm-19/bin/clang\" \"-cc1\" \"-emit-obj\" \"-o\" \"/tmp/a.o\" \"-x\" \"c\" \"a.c\"\n";

const Llvm kLlvm{.version = "19", .folder = "", .bin = "/usr/lib/llvm-19/bin"};

std::optional<LinkJob> job_of(const std::string& steps) { return find_link_job(steps, kLlvm); }

std::string link_line(const std::string& words) {
  return " \"/usr/lib/llvm-19/bin/ld.lld\" \"--eh-frame-hdr\" \"-m\" \"elf_x86_64\" " + words + "\n";
}

TEST(LinkJob, NoneWhenNothingIsLinked) {
  EXPECT_FALSE(job_of(kHead));
  EXPECT_FALSE(job_of(std::string(kHead) + kCompile));
}

TEST(LinkJob, TellsTheOutputAndTheKind) {
  const auto job = job_of(std::string(kHead) + kCompile +
                                 link_line(R"("-pie" "-dynamic-linker" "/lib64/ld" "-o" "dir/a b\"c" "a.o" "-lc")"));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->output, "dir/a b\"c");
  EXPECT_EQ(job->libc, Libc::kGlibc);
  EXPECT_EQ(job->kind, LinkerKind::kOurLld);
  EXPECT_FALSE(job->shared || job->relocatable || job->is_static);
}

TEST(LinkJob, TellsStaticSharedRelocatableAndBare) {
  EXPECT_TRUE(job_of(link_line(R"("-static" "-o" "a" "-lc")"))->is_static);
  EXPECT_TRUE(job_of(link_line(R"("-static" "-pie" "--no-dynamic-linker" "-o" "a" "-lc")"))->is_static);
  EXPECT_TRUE(job_of(link_line(R"("-shared" "-o" "a.so" "-lc")"))->shared);
  EXPECT_TRUE(job_of(link_line(R"("-o" "a" "-r" "a.o")"))->relocatable);
  EXPECT_EQ(job_of(link_line(R"("-o" "a" "a.o")"))->libc, Libc::kNone);
}

TEST(LinkJob, TellsTheOutputThatIsToldTheLinker) {
  const auto output = [](const std::string& words) { return job_of(link_line(words))->output; };
  for (const char* option : {R"("-o" "b")", R"("--output" "b")", R"("--output=b")"})
    EXPECT_EQ(output(std::string(R"("-o" "a.out" "a.o" )") + option + R"( "-lc")"), "b") << option;
}

TEST(LinkJob, NamesTheFilesThatAreLinked) {
  const std::string folder = testing::TempDir() + "stab-link-job";
  std::filesystem::create_directories(folder);
  for (const char* name : {"/libboth.so", "/libboth.a", "/libold.a"}) std::ofstream(folder + name) << "x";
  const auto files = [&folder](const std::string& words) {
    return job_of(link_line(R"("-dynamic-linker" "/lib64/ld" "-o" "a" "-L)" + folder + "\" " + words))->files;
  };
  EXPECT_THAT(files(R"("a.o" "b/c.a")"), IsSupersetOf({"a.o", "b/c.a"}));
  EXPECT_THAT(files(R"("-lboth" "-lold" "-lnowhere")"), IsSupersetOf({folder + "/libboth.so", folder + "/libold.a"}));
  EXPECT_THAT(files(R"("-Bstatic" "-lboth" "-Bdynamic" "-lold")"), IsSupersetOf({folder + "/libboth.a", folder + "/libold.a"}));
  EXPECT_THAT(files(R"("-l:libold.a")"), Contains(folder + "/libold.a"));
  EXPECT_THAT(files(R"("-lnowhere")"), Not(Contains(testing::HasSubstr("nowhere"))));
  std::filesystem::remove_all(folder);
}

TEST(LinkJob, StaticLibrariesDoNotMakeAProgramStatic) {
  const auto job = job_of(
      link_line(R"("-pie" "-dynamic-linker" "/lib64/ld" "-o" "a" "-static" "-lm" "-Bdynamic" "-lc")"));
  ASSERT_TRUE(job);
  EXPECT_FALSE(job->is_static);
}

TEST(LinkJob, TellsWhetherTheCxxLibraryIsAnArchive) {
  const auto is_archive = [](const std::string& words) { return job_of(link_line(words))->with_cxx_archive; };
  const std::string dynamic = R"("-dynamic-linker" "/lib64/ld" "-o" "a" )";
  EXPECT_FALSE(is_archive(dynamic + R"("-lstdc++" "-lm" "-lc")"));
  EXPECT_TRUE(is_archive(dynamic + R"("-Bstatic" "-lstdc++" "-Bdynamic" "-lm" "-lc")"));
  EXPECT_FALSE(is_archive(dynamic + R"("-Bstatic" "-lz" "-Bdynamic" "-lstdc++" "-lc")"));
  EXPECT_TRUE(is_archive(R"("-static" "-o" "a" "-lc++" "-lm" "-lc")"));
  EXPECT_FALSE(is_archive(R"("-static" "-o" "a" "-lc")"));
}

TEST(LinkJob, TellsWhetherOperatorsWouldMissTheProgramsWrappers) {
  const auto wraps = [](const std::string& words) { return job_of(link_line(words))->wraps_operators; };
  const std::string dynamic = R"("-dynamic-linker" "/lib64/ld" "-o" "a" "-lstdc++" "-lc" )";
  const std::string archive = R"("-static" "-o" "a" "-lstdc++" "-lc" )";
  for (const char* option : {R"("--wrap=_Znwm")", R"("--wrap" "_ZdlPvm")", R"("-wrap=_Znam")", R"("-wrap" "_ZdaPv")"})
    EXPECT_TRUE(wraps(dynamic + option) && wraps(archive + option)) << option;
  for (const char* option : {R"("--wrap=malloc")", R"("--wrap" "free")", R"("--wrap=aligned_alloc")"}) {
    EXPECT_FALSE(wraps(dynamic + option)) << option;
    EXPECT_TRUE(wraps(archive + option)) << option;
  }
  EXPECT_FALSE(wraps(archive + R"("--wrap=calloc" "--wrap=read")")) << "no operator calls them";
  EXPECT_FALSE(wraps(dynamic + R"("_Znwm" "--wrap")"));
}

TEST(LinkJob, IsTakenForOneByWhatItIsTold) {
  for (const char* linker : {"/usr/bin/ld", "/usr/bin/mold", "./wrapper", "wild", "/opt/links.py"}) {
    const auto job = job_of(" \"" + std::string(linker) + R"(" "-m" "elf_x86_64" "-o" "a" "-lc")");
    ASSERT_TRUE(job) << linker;
    EXPECT_EQ(job->linker, linker);
    EXPECT_EQ(job->kind, LinkerKind::kUnknown) << linker;
  }
  EXPECT_FALSE(job_of(R"( "/usr/bin/as" "--64" "-o" "a.o" "a.s")"));
  EXPECT_FALSE(job_of(R"( "/usr/bin/objcopy" "--extract-dwo" "a.o" "a.dwo")"));
  EXPECT_FALSE(job_of(R"( "/usr/lib/llvm-19/bin/flang-new" "-fc1" "-m" "elf_x86_64" "-o" "a.o")"));
  const auto wrapped =
      job_of(R"( "clang-linker-wrapper" "--linker-path=/usr/bin/ld.bfd" "--" "-m" "elf_x86_64" "-o" "a")");
  ASSERT_TRUE(wrapped);
  EXPECT_EQ(wrapped->kind, LinkerKind::kOther);
}

TEST(LinkJob, TellsWhoseLibcItIs) {
  TemporaryDirectory folder;
  const std::string path = folder.path();
  std::ofstream(path + "/libc.so.6") << "...gnu_get_libc_version...";
  std::filesystem::create_symlink("libc.so.6", path + "/libother.so");
  std::filesystem::create_directory(path + "/musl");
  std::ofstream(path + "/musl/libc.a") << "!<arch>";
  std::ofstream(path + "/musl/libc.so") << "\177ELF";
  const auto libc = [&path](const std::string& words) {
    return job_of(link_line(R"("-dynamic-linker" "/lib64/ld" "-o" "a" "-L)" + path + "\" " + words))->libc;
  };
  EXPECT_EQ(libc(R"("a.o" "-lother")"), Libc::kGlibc);
  EXPECT_EQ(libc(R"("a.o" "-l:libc.so.6")"), Libc::kGlibc);
  EXPECT_EQ(libc("\"" + path + "/libc.so.6\""), Libc::kGlibc);
  EXPECT_EQ(libc(R"("-lc")"), Libc::kGlibc) << "nobody finds it: the linker says so";
  EXPECT_EQ(libc(R"("a.o")"), Libc::kNone);
  EXPECT_EQ(libc("\"-L" + path + R"(/musl" "-lc")"), Libc::kOther);
  EXPECT_EQ(libc("\"-L" + path + R"(/musl" "-Bstatic" "-lc")"), Libc::kOther);
  EXPECT_EQ(libc(R"("-lc" "-dynamic-linker" "/lib/ld-musl-x86_64.so.1")"), Libc::kOther);
  EXPECT_EQ(libc(R"("-lc" "--dynamic-linker=/lib/ld-musl-x86_64.so.1")"), Libc::kOther);
}

TEST(Linker, IsKnownByItsPathOrItsAnswer) {
  EXPECT_EQ(kind_by_path("/usr/lib/llvm-19/bin/ld.lld", kLlvm), LinkerKind::kOurLld);
  EXPECT_EQ(kind_by_path("/opt/bin/ld.lld-19", kLlvm), LinkerKind::kOurLld);
  EXPECT_EQ(kind_by_path("/usr/lib/llvm-14/bin/ld.lld", kLlvm), LinkerKind::kUnknown);
  EXPECT_EQ(kind_by_path("/usr/bin/ld.gold", kLlvm), LinkerKind::kGold);
  EXPECT_EQ(kind_by_path("./lld-wrapper", kLlvm), LinkerKind::kUnknown);
  EXPECT_EQ(kind_by_version("Debian LLD 19.1.7 (compatible with GNU linkers)\n", kLlvm), LinkerKind::kOurLld);
  EXPECT_EQ(kind_by_version("LLD 14.0.6 (compatible with GNU linkers)\n", kLlvm), LinkerKind::kOtherLld);
  EXPECT_EQ(kind_by_version("GNU gold (GNU Binutils for Debian 2.40) 1.16\n", kLlvm), LinkerKind::kGold);
  EXPECT_EQ(kind_by_version("mold 1.10.1 (compatible with GNU ld)\n", kLlvm), LinkerKind::kMold);
  EXPECT_EQ(kind_by_version("GNU ld (GNU Binutils for Debian) 2.40\n", kLlvm), LinkerKind::kOther);
  EXPECT_EQ(kind_by_version("", kLlvm), LinkerKind::kOther);
}

TEST(Linker, IsOursWhereTheVersionIsTheSame) {
  const auto is_ours = [](const char* version, const char* line) {
    return kind_by_version(line, {.version = version, .folder = "", .bin = ""}) == LinkerKind::kOurLld;
  };
  EXPECT_TRUE(is_ours("22", "LLD 22.1.8 (compatible with GNU linkers)\n"));
  EXPECT_FALSE(is_ours("2", "LLD 22.1.8 (compatible with GNU linkers)\n"));
  EXPECT_FALSE(is_ours("22", "LLD 19.1.7 (compatible with GNU linkers)\n"));
  EXPECT_TRUE(is_ours("23.0.0git", "LLD 23.0.0git (https://example.org 0123) (compatible with GNU linkers)\n"));
  EXPECT_FALSE(is_ours("23.0.0git", "LLD 23.0.0 (compatible with GNU linkers)\n"));
}

}  // namespace
}  // namespace stab::driver
