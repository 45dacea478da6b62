// The file post-link writes: what stays, what goes, and what is refused.
#include "instrumenter/postlink/elf_writer.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>

#include "instrumenter/postlink/code_view.h"
#include "instrumenter/postlink/stab_info.h"
#include "runtime/sections_abi.h"
#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

using testing::HasSubstr;

class ElfWriterTest : public AssembledTest {
 protected:
  const std::string kProgram = assembly_function("start", "push %rax\ncall leaf\nlea names(%rip), %rax\npop %rcx\nret") +
                               assembly_function("leaf", "call leaf\nmov stab_pad(%rip), %eax\nret") +
                               ".data\nnames: .quad leaf\n.section stab_pads,\"a\"\nstab_pad: .long 0\n.text\n";

  ElfImage parsed(const std::string& path) {
    auto image = ElfImage::parse(read_file(path).value(), path);
    EXPECT_TRUE(image) << image.error().text();
    return std::move(image).value();
  }
};

TEST_F(ElfWriterTest, LoadedBytesStayAndRelocationsGo) {
  const std::string path = link(kProgram);
  const ElfImage before = parsed(path);
  ASSERT_TRUE(post_link(path, path, {}));
  const ElfImage after = parsed(path);
  EXPECT_FALSE(after.has_kept_relocations());
  EXPECT_EQ(after.find_section(".rela.text"), nullptr);
  ASSERT_EQ(before.segments().size(), after.segments().size());
  for (const Section& section : before.sections()) {
    if (!section.allocated() || section.bytes.empty() || section.name == abi::kPadsSection) continue;
    const Section* twin = after.find_section(section.name);
    ASSERT_NE(twin, nullptr) << section.name;
    EXPECT_EQ(twin->header.sh_offset, section.header.sh_offset);
    const bool same = std::equal(section.bytes.begin(), section.bytes.end(), twin->bytes.begin());
    EXPECT_TRUE(same || section.header.sh_type == SHT_DYNSYM) << section.name;
  }
  EXPECT_EQ(before.symbols().size(), after.symbols().size());
  const auto leaf = std::find_if(after.symbols().begin(), after.symbols().end(),
                                 [](const Symbol& symbol) { return symbol.name == "leaf"; });
  ASSERT_NE(leaf, after.symbols().end());
  EXPECT_EQ(after.sections()[leaf->section].name, ".text");
}

TEST_F(ElfWriterTest, MetadataReadsBack) {
  const std::string path = link(kProgram);
  ASSERT_TRUE(post_link(path, path, {}));
  const ElfImage image = parsed(path);
  const Section* section = image.find_section(abi::kCodeSection);
  ASSERT_NE(section, nullptr);
  ASSERT_EQ(section->header.sh_offset % 8, 0u);
  const auto code = CodeView::parse(section->bytes);
  ASSERT_TRUE(code) << code.error().text();
  EXPECT_EQ(code->functions.size(), 2u);
  EXPECT_EQ(code->directed.size(), 2u);
}

TEST_F(ElfWriterTest, PadsOfRecursiveFunctionsAreMarked) {
  const std::string path = link(kProgram);
  ASSERT_TRUE(post_link(path, path, {}));
  const ElfImage image = parsed(path);
  EXPECT_EQ(read_as<uint32_t>(image.find_section(abi::kPadsSection)->bytes.data()), abi::kPadRecursive);
}

TEST_F(ElfWriterTest, StripDropsSymbols) {
  const std::string path = link(kProgram);
  Options stripping;
  stripping.strip = true;
  ASSERT_TRUE(post_link(path, path, stripping));
  const ElfImage image = parsed(path);
  EXPECT_TRUE(image.symbols().empty());
  EXPECT_NE(image.find_section(abi::kCodeSection), nullptr);
}

TEST_F(ElfWriterTest, KeepsTheMode) {
  const std::string path = link(kProgram);
  chmod(path.c_str(), 0741);
  ASSERT_TRUE(post_link(path, path, {}));
  struct stat status{};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0741u);
}

TEST_F(ElfWriterTest, RefusesAProcessedFileAndLeavesIt) {
  const std::string path = link(kProgram);
  ASSERT_TRUE(post_link(path, path, {}));
  const auto processed = read_file(path).value();
  const Status again = post_link(path, path, {});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("already has stab_code"));
  EXPECT_EQ(read_file(path).value(), processed);
}

TEST_F(ElfWriterTest, RefusesAFileWithoutRelocations) {
  const Status status = post_link(link(kProgram, "-pie", ""), scratch_ / "out", {});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("--emit-relocs"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "out"));
}

TEST_F(ElfWriterTest, InfoNamesWhatStays) {
  const std::string path = link(kProgram + assembly_function("tiny", "ret"));
  ASSERT_TRUE(post_link(path, path, {}));
  const auto text = describe(path);
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_THAT(*text, HasSubstr("3, 2 movable"));
  EXPECT_THAT(*text, HasSubstr("too-short"));
  EXPECT_THAT(*text, HasSubstr("    tiny\n"));
  EXPECT_THAT(*text, HasSubstr("of these 1 in recursive functions"));
}

}  // namespace
}  // namespace stab::postlink
