// Damaged files: whatever is wrong with an ELF file or its metadata, the answer is an error or harmless output, never
// a crash. (The asan preset makes this test sharp; tests/fuzz searches further.)
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "instrumenter/postlink/code_view.h"
#include "instrumenter/postlink/constant_lists.h"
#include "instrumenter/postlink/elf_writer.h"
#include "runtime/sections_abi.h"
#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

constexpr int kDamagedFiles = 3000;

class DamageTest : public AssembledTest {
 protected:
  std::vector<uint8_t> program() {
    return read_file(link(assembly_function("start", "push %rax\ncall leaf\nlea table(%rip), %rax\nmovslq (%rax,%rdi,4), "
                                                     "%rcx\nadd %rax, %rcx\njmp *%rcx\none: inc %eax\ntwo: pop %rcx\nret") +
                          assembly_function("leaf", "call leaf@PLT\nmov stab_pad(%rip), %eax\nret") +
                          ".section .rodata\n.p2align 2\ntable: .long one - table, two - table\n"
                          ".section stab_pads,\"a\"\nstab_pad: .long 0\n.section stab_funcs,\"a\"\n.long start - .\n.long 8\n"
                          ".section stab_constants,\"\"\n.quad 1\n.long 2\n.long 3, 4\n.quad 5\n.long 0\n",
                          "-pie -Wl,--export-dynamic"))
        .value();
  }
};

// Half the time a few bytes anywhere, half the time a field of the headers, with values that tend to hurt.
void damage(std::vector<uint8_t>& bytes, std::mt19937& random) {
  const int faults = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < faults; ++i) {
    const uint64_t hurtful[] = {0, 1, 0xff, 0x7fffffff, 0xffffffff, ~uint64_t{0}, bytes.size(), bytes.size() - 1, random()};
    const uint64_t value = hurtful[random() % std::size(hurtful)];
    const size_t width = size_t{1} << (random() % 4);
    size_t at = random() % bytes.size();
    const size_t edge = std::min<size_t>(bytes.size(), 3000);
    if (random() % 2) at = random() % 2 ? random() % edge : bytes.size() - 1 - random() % edge;
    if (at + width > bytes.size()) continue;
    memcpy(bytes.data() + at, &value, width);
  }
  if (random() % 16 == 0) bytes.resize(random() % bytes.size());
}

TEST_F(DamageTest, FilesAreRefusedOrProcessed) {
  const std::vector<uint8_t> good = program();
  ASSERT_GT(good.size(), 3000u);
  std::mt19937 random(7);
  int processed = 0;
  for (int i = 0; i < kDamagedFiles; ++i) {
    std::vector<uint8_t> bytes = good;
    damage(bytes, random);
    const auto image = ElfImage::parse(std::move(bytes), "damaged");
    if (!image) continue;
    Options options;
    options.move_all = i % 2 == 0;
    const auto analysis = analyze(*image, options);
    if (!analysis) continue;
    const auto metadata =
        encode_code_metadata(*image, analysis->functions, analysis->disassembly, analysis->tables, false, false);
    const auto constants = encode_constant_lists(*image, analysis->functions);
    const std::vector<AddedSection> added = {{abi::kCodeSection, metadata}, {abi::kContentsSection, constants}};
    const auto written = with_metadata(*image, added, {random() % 2 == 0, random() % 2 == 0});
    if (!written) continue;
    ++processed;
    for (const uint64_t offset : analysis->recursive_pads) ASSERT_LE(offset + 4, written->size());
    std::vector<uint64_t> aligned((metadata.size() + 7) / 8);
    memcpy(aligned.data(), metadata.data(), metadata.size());
    const auto view = CodeView::parse({reinterpret_cast<const uint8_t*>(aligned.data()), metadata.size()});
    EXPECT_TRUE(view) << "round " << i << ": " << view.error().text();
  }
  EXPECT_GT(processed, kDamagedFiles / 10);
}

TEST_F(DamageTest, MetadataIsRefusedOrSound) {
  const std::string path = scratch_ / "good";
  {
    const auto bytes = program();
    ASSERT_TRUE(write_atomically(path, bytes, 0755));
    analyze_file(path);
  }
  const std::vector<uint8_t> good = metadata();
  std::mt19937 random(9);
  int refused = 0;
  for (int i = 0; i < kDamagedFiles; ++i) {
    std::vector<uint8_t> bytes = good;
    damage(bytes, random);
    std::vector<uint64_t> aligned((bytes.size() + 7) / 8 + 1);
    memcpy(aligned.data(), bytes.data(), bytes.size());
    const auto view = CodeView::parse({reinterpret_cast<const uint8_t*>(aligned.data()), bytes.size()});
    refused += !view;
    if (!view) continue;
    for (const abi::CodeFunction& function : view->functions)
      EXPECT_LE(uint64_t{function.start} + function.bytes, view->header.text_bytes);
  }
  EXPECT_GT(refused, kDamagedFiles / 4);
}

}  // namespace
}  // namespace stab::postlink
