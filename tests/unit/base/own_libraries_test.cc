// Which libraries a program brings along, and that no file makes us read or look for more than a bound.
#include "base/own_libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/unique_fd.h"
#include "tests/unit/temporary_directory.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

const std::string kOuter = BROUGHT "/outer/libbrought_outer.so", kInner = BROUGHT "/inner/libbrought_inner.so";

std::vector<std::string> found(const std::string& program, std::string_view search_path = "", const std::string& at = "/") {
  auto libraries = own_libraries(program, search_path, at);
  EXPECT_TRUE(libraries.ok()) << libraries.error().text();
  if (!libraries.ok()) return {};
  for (std::string& path : *libraries) path = fs::weakly_canonical(path);
  return *libraries;
}

TEST(OwnLibraries, SearchPathOfTheFileLeadsToThem) {
  EXPECT_EQ(found(kOuter), std::vector<std::string>{fs::canonical(kInner)});
  EXPECT_EQ(found(kInner), std::vector<std::string>{}) << "libc is the system's";
}

TEST(OwnLibraries, FolderThatItWasCopiedToCounts) {
  const TemporaryDirectory directory;
  fs::create_directories(directory.path() + "/outer");
  fs::create_directories(directory.path() + "/inner");
  fs::copy(kOuter, directory.path() + "/outer/prog");
  fs::copy(kInner, directory.path() + "/inner/libbrought_inner.so");
  EXPECT_EQ(found(directory.path() + "/outer/prog"),
            std::vector<std::string>{fs::canonical(directory.path() + "/inner/libbrought_inner.so")});
}

TEST(OwnLibraries, EnvironmentLeadsToThemAndTheirSearchPathsToMore) {
  // bash needs libtinfo and libc; the environment brings another libtinfo, which needs what lies beside it.
  const TemporaryDirectory directory;
  fs::create_directories(directory.path() + "/lib/outer");
  fs::create_directories(directory.path() + "/lib/inner");
  fs::copy(kOuter, directory.path() + "/lib/outer/libtinfo.so.6");
  fs::copy(kInner, directory.path() + "/lib/inner/libbrought_inner.so");
  const std::vector<std::string> wanted = {fs::canonical(directory.path() + "/lib/outer/libtinfo.so.6"),
                                           fs::canonical(directory.path() + "/lib/inner/libbrought_inner.so")};
  EXPECT_EQ(found("/bin/bash", directory.path() + "/absent:" + directory.path() + "/lib/outer"), wanted);
  EXPECT_EQ(found("/bin/bash", "lib/outer", directory.path()), wanted) << "relative to where the program runs";
  EXPECT_EQ(found("/bin/bash"), std::vector<std::string>{});
}

TEST(OwnLibraries, WhatIsNoProgramHasNone) {
  const TemporaryDirectory directory;
  EXPECT_EQ(found(directory.write("script", "#!/bin/sh\n")), std::vector<std::string>{});
  EXPECT_EQ(found(directory.write("empty", "")), std::vector<std::string>{});
  EXPECT_EQ(own_libraries(directory.path() + "/absent", "", "/").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(own_libraries(directory.path(), "", "/").ok());
}

// A file of one segment that is as long as all, with these entries and names.
std::string made(const std::vector<Elf64_Dyn>& entries, const std::string& names) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  const uint64_t at = sizeof header + 2 * sizeof(Elf64_Phdr), bytes = (entries.size() + 2) * sizeof(Elf64_Dyn);
  Elf64_Phdr segments[2]{};
  segments[0].p_type = PT_LOAD;
  segments[0].p_vaddr = 0x10000;
  segments[0].p_filesz = at + bytes + names.size();
  segments[1].p_type = PT_DYNAMIC;
  segments[1].p_offset = at;
  segments[1].p_filesz = bytes;
  std::vector<Elf64_Dyn> all = entries;
  all.push_back({DT_STRTAB, {0x10000 + at + bytes}});
  all.push_back({DT_STRSZ, {names.size()}});
  std::string out(reinterpret_cast<const char*>(&header), sizeof header);
  out.append(reinterpret_cast<const char*>(segments), sizeof segments);
  out.append(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(Elf64_Dyn));
  return out + names;
}

TEST(OwnLibraries, WhoSearchesFromItsOwnFolderOnIsKnown) {
  const TemporaryDirectory directory;
  const auto with_path = [&](const std::string& place) {
    const std::string names = std::string("\0liba.so\0", 9) + place + '\0';
    return directory.write("file", made({{DT_NEEDED, {1}}, {DT_RUNPATH, {9}}}, names));
  };
  EXPECT_TRUE(searches_beside_itself(kOuter));
  EXPECT_TRUE(searches_beside_itself(with_path("/x:${ORIGIN}/../lib")));
  EXPECT_FALSE(searches_beside_itself(with_path("/x:/y")));
  EXPECT_TRUE(searches_beside_itself(with_path("/x:lib"))) << "which is another folder wherever it is started";
  EXPECT_FALSE(searches_beside_itself(directory.write("text", "$ORIGIN")));
  EXPECT_FALSE(searches_beside_itself(directory.path() + "/absent"));
}

// A linker that is given ./libb.so, which has no name of its own, writes that.
TEST(OwnLibraries, NamesFromTheWorkingFolderAreTold) {
  const TemporaryDirectory directory;
  const std::string names("\0sub/../libb.so\0/x/libc.so\0./libd.so\0libe.so\0", 45);
  fs::create_directory(directory.path() + "/sub");
  fs::create_directory(directory.path() + "/elsewhere");
  directory.write("libb.so", made({{DT_NEEDED, {27}}}, names));
  fs::rename(directory.write("prog", made({{DT_NEEDED, {1}}, {DT_NEEDED, {16}}, {DT_NEEDED, {37}}}, names)),
             directory.path() + "/elsewhere/prog");
  const auto named = libraries_of_working_folder(directory.path() + "/elsewhere/prog", "", directory.path());
  ASSERT_TRUE(named.ok()) << named.error().text();
  EXPECT_EQ(*named, (std::vector<std::string>{"sub/../libb.so", "./libd.so"})) << "a library of theirs may need more";
}

TEST(OwnLibraries, NamesThatLieOutsideAreNone) {
  const TemporaryDirectory directory;
  const std::string names = std::string("\0liba.so\0/x:y\0", 14);
  const std::vector<Elf64_Dyn> entries = {{DT_NEEDED, {1}}, {DT_NEEDED, {~0ull}}, {DT_NEEDED, {names.size()}}, {DT_RUNPATH, {9}}};
  const std::string path = directory.write("file", made(entries, names));
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const NeededLibraries needed = needed_libraries(file.get());
  EXPECT_EQ(needed.names, std::vector<std::string>{"liba.so"});
  EXPECT_EQ(needed.directories, (std::vector<std::string>{"/x", "y"}));
}

TEST(OwnLibraries, EndlessListsAreBounded) {
  const TemporaryDirectory directory;
  std::string names(1, '\0'), places;
  std::vector<Elf64_Dyn> entries;
  for (int i = 0; i < 20000; ++i) {
    entries.push_back({DT_NEEDED, {names.size()}});
    names += "lib" + std::to_string(i) + ".so" + '\0';
    places += "/absent" + std::to_string(i) + ":";
  }
  entries.push_back({DT_RUNPATH, {names.size()}});
  names += places + '\0' + std::string(1 << 20, 'x');
  entries.push_back({DT_NEEDED, {names.size() - (1 << 20)}});
  names += '\0';
  const std::string path = directory.write("file", made(entries, names));
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(needed_libraries(file.get()).names.size(), 1000u);
  EXPECT_EQ(found(path), std::vector<std::string>{});
}

}  // namespace
}  // namespace stab
