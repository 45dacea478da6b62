// Which tables are taken for jump tables, and how far they reach.
#include "instrumenter/postlink/jump_tables.h"

#include <gmock/gmock.h>

#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

using testing::ElementsAre;
using JumpTableTest = AssembledTest;

// A position-independent switch. The offsets of its cases: 19, 25, 31.
std::string switcher(const std::string& name, const std::string& table) {
  return assembly_function(name, "lea " + table + "(%rip), %rax\nmovslq (%rax,%rdi,4), %rdi\nadd %rax, %rdi\n"
                                 "jmp *%rdi\nnop\nnop\nnop\n" +
                                     name + "_0: mov $1, %eax\nret\n" + name + "_1: mov $2, %eax\nret\n" + name +
                                     "_2: mov $3, %eax\nret");
}
std::string table(const std::string& label, std::initializer_list<std::string> cases) {
  std::string text = ".section .rodata\n.p2align 2\n" + label + ":\n";
  for (const std::string& name : cases) text += ".long " + name + " - " + label + "\n";
  return text + ".text\n";
}

TEST_F(JumpTableTest, FindsAPositionIndependentTable) {
  analyze_assembly(switcher("start", "table") + table("table", {"start_0", "start_2", "start_1", "start_0"}));
  ASSERT_EQ(analysis_->tables.size(), 1u);
  EXPECT_EQ(analysis_->tables[0].kind, abi::TableKind::kRelative32);
  EXPECT_THAT(analysis_->tables[0].targets, ElementsAre(19, 31, 25, 19));
}

TEST_F(JumpTableTest, CutsATableWhereTheNextIsReferredTo) {
  analyze_assembly(switcher("start", "first") + switcher("other", "second") +
                   table("first", {"start_0", "start_1"}) + table("second", {"other_0", "other_1", "other_2"}));
  ASSERT_EQ(analysis_->tables.size(), 2u);
  EXPECT_THAT(analysis_->tables[0].targets, ElementsAre(19, 25));
  EXPECT_THAT(analysis_->tables[1].targets, ElementsAre(19, 25, 31));
}

TEST_F(JumpTableTest, ATableThatLeavesTheFunctionIsNone) {
  analyze_assembly(switcher("start", "table") + assembly_function("leaf", "mov $1, %eax\nret") +
                   table("table", {"start_0", "start_1", "leaf", "start_2"}));
  EXPECT_TRUE(analysis_->tables.empty());
}

TEST_F(JumpTableTest, ATableIntoAColdPartRightBehindIsNone) {
  analyze_assembly(switcher("start", "table") +
                   ".type start.cold,@function\nstart.cold: mov $4, %eax\nret\n.size start.cold, .-start.cold\n" +
                   table("table", {"start_0", "start.cold", "start_1"}));
  EXPECT_EQ(function("start").end(), function("start.cold").start);
  EXPECT_TRUE(analysis_->tables.empty());
}

TEST_F(JumpTableTest, ImpossibleCasesAtTheFunctionsEndStayInside) {
  analyze_assembly(switcher("start", "table") + "start_end:\n.p2align 4\n" +
                   table("table", {"start_0", "start_end", "start_1", "start_end"}));
  ASSERT_EQ(analysis_->tables.size(), 1u);
  EXPECT_EQ(function("start").bytes, 37u);
  EXPECT_THAT(analysis_->tables[0].targets, ElementsAre(19, 36, 25));
}

TEST_F(JumpTableTest, ATableThatOthersReferToIsNone) {
  analyze_assembly(switcher("start", "table") + assembly_function("reader", "lea table+4(%rip), %rax\nret") +
                   table("table", {"start_0", "start_1", "start_2"}));
  // Cut at the foreign reference, one entry is left: too little evidence.
  EXPECT_TRUE(analysis_->tables.empty());
  analyze_assembly(switcher("start", "table") + table("table", {"start_0", "start_1"}) +
                   ".data\n.quad table\n.text\n");
  EXPECT_TRUE(analysis_->tables.empty());
}

TEST_F(JumpTableTest, ANamedObjectIsNone) {
  analyze_assembly(switcher("start", "table") + table("table", {"start_0", "start_1", "start_2"}) +
                   ".type table,@object\n.size table, 12\n");
  EXPECT_TRUE(analysis_->tables.empty());
}

TEST_F(JumpTableTest, ATableInWritableDataIsNone) {
  analyze_assembly(switcher("start", "table") +
                   ".data\n.p2align 2\ntable: .long start_0 - table, start_1 - table\n.text\n");
  EXPECT_TRUE(analysis_->tables.empty());
}

TEST_F(JumpTableTest, AFunctionWithoutIndirectJumpsHasNone) {
  analyze_assembly(assembly_function("start", "lea table(%rip), %rax\nstart_0: inc %eax\nstart_1: ret") +
                   table("table", {"start_0", "start_1"}));
  EXPECT_TRUE(analysis_->tables.empty());
}

// A pointer to the element in front of an array's first, as w - 1 for arrays that count from one: data's, or other code's.
TEST_F(JumpTableTest, APointerBeforeTheArrayBehindATableIsNotItsEnd) {
  const std::string last = "array: .long 1, 2, 3\n.text\n";
  const std::string before_array = table("table", {"start_0", "start_1", "start_2", "start_0"}) + ".section .rodata\n" + last;
  analyze_assembly(switcher("start", "table") + before_array + ".data\n.quad array - 4\n.text\n");
  EXPECT_TRUE(analysis_->tables.empty());
  analyze_assembly(switcher("start", "table") + before_array + assembly_function("reader", "lea array-4(%rip), %rax\nret"));
  EXPECT_TRUE(analysis_->tables.empty());
  analyze_assembly(switcher("start", "table") + before_array + assembly_function("reader", "lea array(%rip), %rax\nret"));
  EXPECT_EQ(analysis_->tables.size(), 1u);
}

TEST_F(JumpTableTest, ItsOwnPointerIntoATableDoesNotCutIt) {
  const std::string jump = "lea %(%rip), %rax\nmovslq (%rax,%rdi,4), %rdi\nadd %rax, %rdi\njmp *%rdi\n";
  const auto at = [&](const std::string& label) { return std::string(jump).replace(jump.find('%'), 1, label); };
  const std::string cases = "start_0: mov $1, %eax\nret\nstart_1: mov $2, %eax\nret\nstart_2: mov $3, %eax\nret";
  // Read relative to the place of the third entry, the others lead to instructions, too: twelve bytes further.
  const std::string entries =
      ".section .rodata\n.p2align 2\ntable: .long start_0 - table, start_1 - table, start_0 - table - 12, "
      "start_0 - table - 12\n.text\n";
  analyze_assembly(assembly_function("start", at("table") + "lea table+8(%rip), %rdx\n" + cases) + entries);
  EXPECT_TRUE(analysis_->tables.empty());
  // Two tables and two jumps.
  analyze_assembly(assembly_function("start", "test %esi, %esi\nje 1f\n" + at("first") + "1: " + at("second") + cases) +
                   table("first", {"start_0", "start_1"}) + table("second", {"start_1", "start_2"}));
  EXPECT_EQ(analysis_->tables.size(), 2u);
}

// kEvents + 4: the loop of another function ends where the table begins.
TEST_F(JumpTableTest, TheEndOfAnArrayInFrontIsNoUseOfATable) {
  const auto with = [](const std::string& body) {
    return switcher("start", "table") + assembly_function("loop", body) +
           ".section .rodata\n.p2align 2\n.type array,@object\narray: .long 1, 2, 3\n.size array, 12\n.text\n" +
           table("table", {"start_0", "start_1", "start_2"});
  };
  analyze_assembly(with("lea array(%rip), %rax\n1: add $4, %rax\nlea array+12(%rip), %rcx\ncmp %rax, %rcx\njne 1b\nret"));
  EXPECT_EQ(analysis_->tables.size(), 1u);
  analyze_assembly(with("lea table(%rip), %rcx\nret"));
  EXPECT_TRUE(analysis_->tables.empty());
}

const std::string kAbsoluteSwitch =
    assembly_function("start", "jmp *table(,%rdi,8)\nnop\nstart_0: mov $1, %eax\nret\nstart_1: mov $2, %eax\nret");
const std::string kAbsoluteTable = ".section .rodata\n.p2align 3\ntable: .quad start_0, start_1\n.text\n";

TEST_F(JumpTableTest, FindsAnAbsoluteTable) {
  analyze_assembly(kAbsoluteSwitch + kAbsoluteTable, "-no-pie");
  ASSERT_EQ(analysis_->tables.size(), 1u);
  EXPECT_EQ(analysis_->tables[0].kind, abi::TableKind::kAbsolute64);
  EXPECT_THAT(analysis_->tables[0].targets, ElementsAre(8, 14));
}

TEST_F(JumpTableTest, AnInitializerThatIsCopiedIsNone) {
  analyze_assembly(assembly_function("start", "mov table, %rax\nmov table+8, %rcx\nmov %rax, (%rsi)\njmp *%rcx\n"
                                              "start_0: mov $1, %eax\nret\nstart_1: mov $2, %eax\nret") +
                       kAbsoluteTable,
                   "-no-pie");
  EXPECT_TRUE(analysis_->tables.empty());
}

// Nobody has proven that the label goes nowhere else.
TEST_F(JumpTableTest, LabelsThatAreLoadedByIndexAreNone) {
  analyze_assembly(assembly_function("start", "mov table(,%rdi,8), %rax\nmov %rax, (%rsi)\njmp *%rax\n"
                                              "start_0: mov $1, %eax\nret\nstart_1: mov $2, %eax\nret") +
                       kAbsoluteTable,
                   "-no-pie");
  EXPECT_TRUE(analysis_->tables.empty());
}

const std::string kListed = ".section stab_funcs,\"a\"\n.long start - .\n.long 8\n.text\n";
std::string loading_switch(const std::string& first) {
  return assembly_function("start", first + "mov table(,%rdi,8), %rcx\njmp *%rcx\nnop\n"
                                            "start_0: mov $1, %eax\nret\nstart_1: mov $2, %eax\nret") +
         kAbsoluteTable;
}

TEST_F(JumpTableTest, AListedFunctionMayLoadWhereItJumpsNext) {
  analyze_assembly(loading_switch("") + kListed, "-no-pie");
  EXPECT_EQ(analysis_->tables.size(), 1u);
  analyze_assembly(loading_switch(""), "-no-pie");
  EXPECT_TRUE(analysis_->tables.empty());
}

// w[i - 2] of an array right behind the table.
TEST_F(JumpTableTest, AnIndexedLoadThatIsNoJumpIsNotTheTables) {
  analyze_assembly(loading_switch("mov table(,%rsi,8), %rdx\n") + kListed, "-no-pie");
  EXPECT_TRUE(analysis_->tables.empty());
}

TEST_F(JumpTableTest, ATableIntoTheMiddleOfAnInstructionIsNone) {
  analyze_assembly(switcher("start", "table") + table("table", {"start_0", "start_1 + 1", "start_2"}));
  EXPECT_TRUE(analysis_->tables.empty());
}

TEST_F(JumpTableTest, AbsoluteTablesBackToBackAreOne) {
  analyze_assembly(assembly_function("start", "cmp $1, %esi\nje 1f\njmp *table(,%rdi,8)\n1: jmp *table+8(,%rdi,8)\n"
                                              "start_0: mov $1, %eax\nret\nstart_1: mov $2, %eax\nret") +
                       ".section .rodata\n.p2align 3\ntable: .quad start_0, start_1, start_0, start_1\n.text\n",
                   "-no-pie");
  ASSERT_EQ(analysis_->tables.size(), 1u);
  EXPECT_EQ(analysis_->tables[0].targets.size(), 4u);
}

TEST_F(JumpTableTest, ABiasedReferenceOfAnotherFunctionDoesNotCutATable) {
  analyze_assembly(kAbsoluteSwitch +
                       assembly_function("other", "jmp *table+8(,%rdi,8)\nnop\nother_0: mov $1, %eax\nret\n"
                                                  "other_1: mov $2, %eax\nret") +
                       ".section .rodata\n.p2align 3\ntable: .quad start_0, start_1, other_0, other_1\n.text\n",
                   "-no-pie");
  EXPECT_TRUE(analysis_->tables.empty());
}

// "name - names" in the third element of a relative array: what the linker keeps of it is name + 8. So it seems to lead into an
// entry of a table that lies 8 bytes behind the name, and the entries from there on are the table's all the same.
TEST_F(JumpTableTest, AReferenceIntoAnEntryDoesNotCutATable) {
  const auto element = [](const std::string& target) {
    return ".section .rodata.names,\"a\"\n.p2align 2\n.long " + target + " - .\n.text\n";
  };
  const std::string start = switcher("start", "table") + table("table", {"start_0", "start_1", "start_2", "start_0"});
  for (const char* offset : {"8", "9", "10", "11", "12", "13"}) {
    analyze_assembly(start + element(std::string("table + ") + offset));
    EXPECT_TRUE(analysis_->tables.empty()) << offset;
  }
  analyze_assembly(start + element("table + 16"));
  EXPECT_EQ(analysis_->tables.size(), 1u);
  const std::string absolute = ".section .rodata\n.p2align 3\ntable: .quad start_0, start_1, start_0, start_1\n.text\n";
  analyze_assembly(kAbsoluteSwitch + absolute + element("table + 20"), "-no-pie");
  EXPECT_TRUE(analysis_->tables.empty());
}

// An array of labels as values, as the pass lists it.
const std::string kGotoFunction = assembly_function(
    "start", "lea labels(%rip), %rax\njmp *(%rax,%rdi,8)\nnop\nstart_0: mov labels+8(%rip), %rax\njmp *%rax\nstart_1: ret");
const std::string kLabels =
    ".section .data.rel.ro,\"aw\"\n.p2align 3\nlabels: .quad start_0, start_1\n"
    ".type labels,@object\n.size labels, 16\n.text\n";

TEST_F(JumpTableTest, LabelsAsValuesNeedProof) {
  analyze_assembly(kGotoFunction + kLabels);
  EXPECT_TRUE(analysis_->tables.empty());
  analyze_assembly(kGotoFunction + kLabels + ".section stab_gotos,\"a\"\n.long labels - .\n");
  ASSERT_EQ(analysis_->tables.size(), 1u);
  EXPECT_THAT(analysis_->tables[0].targets, ElementsAre(11, 20));
}

}  // namespace
}  // namespace stab::postlink
