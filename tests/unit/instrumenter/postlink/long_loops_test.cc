// Which instructions of a loop are lead points, and which functions have none.
#include "instrumenter/postlink/lead_points.h"

#include <gmock/gmock.h>

#include "instrumenter/postlink/code_view.h"
#include "runtime/code/metadata.h"
#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LoopPointsTest : public AssembledTest {
 protected:
  // A function that our pass is taken to have compiled.
  static std::string listed(const std::string& name, const std::string& body) {
    return assembly_function(name, body) + ".section stab_funcs,\"aR\"\n.long " + name + " - .\n.long 1\n.text\n";
  }
  // The points of `start`, whose body is this; a short one as offset + 0x80000000.
  std::vector<uint32_t> points_of(const std::string& body, const std::string& more = "", const std::string& options = "-pie") {
    analyze_assembly(listed("start", body) + more, options);
    loops_ = find_long_loops(*image_, analysis_->functions, analysis_->disassembly, analysis_->tables);
    EXPECT_LE(loops_.records.size(), 1u);
    if (!loops_.records.empty()) {
      EXPECT_EQ(loops_.records[0].function, index("start"));
      EXPECT_EQ(loops_.records[0].point_count, loops_.points.size());
    }
    return loops_.points;
  }
  uint32_t unled() const { return loops_.records.empty() ? 0 : loops_.records[0].unled; }
  static constexpr uint32_t kShort = abi::kShortPoint;
  LongLoops loops_;
};

TEST_F(LoopPointsTest, AnInstructionOfFiveBytesInOneWordIsANearPoint) {
  EXPECT_THAT(points_of("xor %eax, %eax\n.nops 6, 6\n1: add $100000, %eax\ndec %ecx\njne 1b\nret"), ElementsAre(8));
  EXPECT_EQ(unled(), 0u);
}

TEST_F(LoopPointsTest, OneThatCrossesAWordIsNone) {
  // The five bytes begin at 6; two of them still lie in one word.
  EXPECT_THAT(points_of("xor %eax, %eax\n.nops 4, 4\n1: add $100000, %eax\ndec %ecx\njne 1b\nret"),
              ElementsAre(kShort + 6));
}

TEST_F(LoopPointsTest, AFarBranchIsAPointWhereItsJumpFits) {
  // Of 300 bytes of stores nothing is a point; jne takes six bytes at 304.
  EXPECT_THAT(points_of("xor %eax, %eax\n1: .rept 100\nmov %rax, (%rdi)\n.endr\ndec %ecx\njne 1b\nret"), ElementsAre(304));
}

TEST_F(LoopPointsTest, WhatTouchesMemoryOrMayTrapIsNone) {
  EXPECT_THAT(points_of("nop\nnop\n1: movl $5, 8(%rdi)\ndivl %ecx\nidivq %rsi\nmovl $7, 16(%rsi)\naddl $70000, (%rdi)\n"
                        "jne 1b\n.rept 60\nmovl $7, 16(%rsi)\n.endr\nret"),
              IsEmpty());
  EXPECT_EQ(unled(), 1u) << "the end is out of reach";
}

TEST_F(LoopPointsTest, ACallIsNone) {
  EXPECT_THAT(points_of("nop\nnop\n1: call other\njmp 1b\n.rept 60\nmovl $7, 16(%rsi)\n.endr\nret",
                        listed("other", "mov $1, %eax\nret")),
              IsEmpty());
  EXPECT_EQ(unled(), 1u);
}

TEST_F(LoopPointsTest, NoLoopNoRecord) {
  EXPECT_THAT(points_of("xor %eax, %eax\ntest %edi, %edi\nje 1f\nadd $100000, %eax\n1: ret"), IsEmpty());
  EXPECT_THAT(loops_.records, IsEmpty());
}

TEST_F(LoopPointsTest, EachBackwardBranchPassesAPoint) {
  points_of("xor %eax, %eax\n1: inc %eax\n2: dec %ecx\njne 2b\n3: dec %edx\njne 3b\ndec %esi\njne 1b\nret");
  EXPECT_EQ(unled(), 0u);
  EXPECT_EQ(loops_.points.size(), 2u) << "the outer loop's turns pass the first inner one's";
}

TEST_F(LoopPointsTest, AFunctionThatMayHoldATablesAddressHasNone) {
  const std::string table = ".section .rodata\n.p2align 3\ntable: .long a-table, b-table, c-table\n.text\n";
  EXPECT_THAT(points_of("lea table(%rip), %rax\n1: movslq (%rax,%rdi,4), %rdx\nadd %rax, %rdx\njmp *%rdx\n"
                        "a: add $100000, %ecx\njmp 1b\nb: dec %ecx\njne 1b\nc: ret",
                        table),
              IsEmpty());
  ASSERT_EQ(analysis_->tables.size(), 1u);
  ASSERT_EQ(loops_.records.size(), 1u);
  EXPECT_EQ(loops_.records[0].stay, abi::LoopStay::kHoldsTable);
  EXPECT_EQ(unled(), 2u);
}

TEST_F(LoopPointsTest, OneWhoseJumpReadsItsTableHasPoints) {
  const std::string table = ".section .rodata\n.p2align 3\ntable: .quad a, b, c\n.text\n";
  const auto points = points_of("nop\nnop\n1: jmp *table(,%rdi,8)\na: add $100000, %ecx\njmp 1b\nb: dec %ecx\njne 1b\nc: ret",
                                table, "-no-pie");
  ASSERT_EQ(analysis_->tables.size(), 1u);
  EXPECT_FALSE(points.empty());
  EXPECT_EQ(loops_.records[0].stay, abi::LoopStay::kNo);
  // Also where it is read by the instruction before, and nothing comes between.
  EXPECT_FALSE(points_of("nop\nnop\n1: mov table(,%rdi,8), %rdx\njmp *%rdx\na: add $100000, %ecx\njmp 1b\n"
                         "b: dec %ecx\njne 1b\nc: ret",
                         table, "-no-pie")
                   .empty());
}

TEST_F(LoopPointsTest, OtherCompilersFunctionsHaveNone) {
  analyze_assembly(assembly_function("start", "xor %eax, %eax\n1: inc %eax\ndec %ecx\njne 1b\nret"));
  loops_ = find_long_loops(*image_, analysis_->functions, analysis_->disassembly, analysis_->tables);
  EXPECT_THAT(loops_.records, IsEmpty());
}

TEST_F(LoopPointsTest, TheRuntimeReadsWhatWasFound) {
  points_of("xor %eax, %eax\n.nops 6, 6\n1: add $100000, %eax\n2: inc %edx\ndec %ecx\njne 2b\ndec %esi\njne 1b\nret");
  const auto section = encode_code_metadata(*image_, analysis_->functions, analysis_->disassembly, analysis_->tables, false,
                                            false, loops_);
  std::vector<uint64_t> aligned((section.size() + 7) / 8);
  memcpy(aligned.data(), section.data(), section.size());
  code::Metadata code;
  ASSERT_EQ(code::read_metadata(aligned.data(), section.size(), code), code::MetadataFault::kNone);
  // Pointers follow.
  const uint64_t in_front = code::pointers_at(*code.header);
  const auto view = CodeView::parse({reinterpret_cast<const uint8_t*>(aligned.data()), section.size()});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(in_front + sizeof(abi::PointerCounts) + view->pointer_slots.size_bytes() + view->pointer_fields.size_bytes(),
            section.size());
  ASSERT_EQ(code.loop_count, 1u);
  const std::vector<uint32_t> read(code.points, code.points + code.loops[0].point_count);
  EXPECT_THAT(read, testing::ElementsAreArray(loops_.points));
}

}  // namespace
}  // namespace stab::postlink
