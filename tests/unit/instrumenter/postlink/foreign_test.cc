// What other compilers made moves where its frames, flags, exceptions and surroundings show that it can.
#include "instrumenter/postlink/foreign.h"

#include <gmock/gmock.h>

#include <cstring>

#include "instrumenter/postlink/x86_64/flags.h"
#include "runtime/arch/x86_64/instruction.h"
#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;

using abi::Immovable;

// As compilers write one: with its entry in the unwind tables.
std::string framed(const std::string& name, const std::string& body, const std::string& directives = "") {
  return assembly_function(name, ".cfi_startproc\n" + directives + "\n" + body + "\n.cfi_endproc");
}

// An entry in stab_funcs: our pass has compiled it.
std::string listed(const std::string& name, const std::string& body) {
  return framed(name, body) + ".section stab_funcs,\"a\"\n.long " + name + " - .\n.long 8\n.text\n";
}

const std::string kStart = framed("start", "push %rbp\ncall leaf\npop %rbp\nret") + framed("leaf", "mov $1, %eax\nret\nnop\nnop");

class ForeignTest : public AssembledTest {
 protected:
  ForeignTest() { options_.move_all = true; }

  uint32_t version() const { return header().version; }
  abi::CodeHeader header() const {
    const auto bytes = metadata();
    abi::CodeHeader header;
    memcpy(&header, bytes.data(), sizeof header);
    return header;
  }
};

TEST_F(ForeignTest, MovesWithAFrameOfItsExtent) {
  analyze_assembly(kStart);
  EXPECT_EQ(fate("leaf"), Immovable::kNo);
  EXPECT_EQ(fate("start"), Immovable::kSystem) << "where the kernel enters the program";
  EXPECT_EQ(version(), abi::kCodeVersion) << "what the older version has no word for";
}

TEST_F(ForeignTest, StaysUnlessAskedFor) {
  options_ = {};
  options_.only_listed = true;
  analyze_assembly(kStart);
  EXPECT_EQ(fate("leaf"), Immovable::kForeign);
  EXPECT_EQ(version(), abi::kOldestCodeVersion);
}

TEST_F(ForeignTest, StaysWithoutAFrameOrWithAnother) {
  analyze_assembly(kStart + assembly_function("bare", "mov $1, %eax\nret\nnop") +
                   assembly_function("longer", ".cfi_startproc\nmov $1, %eax\n.cfi_endproc\nret\nnop"));
  EXPECT_EQ(fate("bare"), Immovable::kNoFrame);
  EXPECT_EQ(fate("longer"), Immovable::kNoFrame);
}

TEST_F(ForeignTest, ListedFunctionsNeedNoFrame) {
  analyze_assembly(kStart + listed("ours", "mov $1, %eax\nret\nnop"));
  EXPECT_EQ(fate("ours"), Immovable::kNo);
  EXPECT_EQ(fate("leaf"), Immovable::kNo);
}

TEST_F(ForeignTest, StaysWhereFlagsAreAliveAtItsEntry) {
  analyze_assembly(kStart + framed("adds_carry", "mov %edi, %eax\nadc $0, %eax\nret") +
                   framed("jumps_there", "mov %edi, %edi\n.byte 0xe9\n.long adds_carry - . - 4") +
                   framed("one_way", "bt $3, %edi\njc 1f\nmov $1, %eax\nret\n1: setz %al\nret") +
                   framed("tests_a_bit", "bt $3, %edi\njc 1f\nmov $1, %eax\nret\n1: mov $2, %eax\nret") +
                   framed("shifts", "mov (%rdi), %eax\nshr $5, %eax\nje 1f\nret\n1: inc %eax\nret"));
  EXPECT_EQ(fate("adds_carry"), Immovable::kAssembly);
  EXPECT_EQ(fate("jumps_there"), Immovable::kAssembly);
  EXPECT_EQ(fate("one_way"), Immovable::kAssembly) << "only the carry is set";
  EXPECT_EQ(fate("tests_a_bit"), Immovable::kNo);
  EXPECT_EQ(fate("shifts"), Immovable::kNo);
}

TEST_F(ForeignTest, JumpsBetweenMiddlesAreOfAssemblyOrOfSplitOffParts) {
  const auto pair = [](const std::string& from, const std::string& to) {
    return framed(from, "xor %eax, %eax\n.byte 0xe9\n.long " + to + "_goes_on - . - 4") +
           framed(to, "xor %eax, %eax\ninc %eax\n dec %eax\n" + to + "_goes_on: mov $1, %eax\nret");
  };
  analyze_assembly(kStart + pair("from", "to") + pair("f", "g") + ".set f_too, f\n.type f_too, @function\n.size f_too, 7\n" +
                   pair("h.cold", "h") + ".globl C2\n.type C2,@function\n.set C2, k\n.size C2, 12\n" + pair("C2.cold", "k"));
  EXPECT_EQ(fate("from"), Immovable::kAssembly);
  EXPECT_EQ(fate("to"), Immovable::kAssembly);
  EXPECT_EQ(fate("h.cold"), Immovable::kNo);
  EXPECT_EQ(fate("h"), Immovable::kNo);
  EXPECT_EQ(fate("C2.cold"), Immovable::kNo) << "its parent is known by another of its names";
}

// A function whose exceptions `personality` handles by a table with a call at 0 and its landing pad at `pad`.
std::string catching(const std::string& name, const std::string& personality, const std::string& pad,
                     const std::string& first_byte = "0xff") {
  return framed(name, "push %rbx\ncall leaf\npop %rbx\nret\n" + name + "_pad: pop %rbx\nret",
                ".cfi_personality 0x1b, " + personality + "\n.cfi_lsda 0x1b, .L" + name + "_table") +
         ".section .gcc_except_table,\"a\"\n.L" + name + "_table:\n.byte " + first_byte +
         ", 0xff, 1\n.uleb128 4\n.uleb128 0, 6, " + pad + ", 0\n.text\n";
}
// Global: lld takes entries that name two local routines for one.
const std::string kPersonality =
    ".globl __gcc_personality_v0, someones_personality\n" + framed("__gcc_personality_v0", "mov $8, %eax\nret") +
    framed("someones_personality", "mov $8, %eax\nret");

TEST_F(ForeignTest, ExceptionsFollowACopyWhenTheirPlacesCountFromItsStart) {
  analyze_assembly(kStart + kPersonality + catching("catches", "__gcc_personality_v0", "8") +
                   catching("beyond", "__gcc_personality_v0", "20") +
                   catching("unknown", "someones_personality", "8") +
                   catching("elsewhere", "__gcc_personality_v0", "8", "0x1b"));
  EXPECT_EQ(fate("catches"), Immovable::kNo);
  EXPECT_EQ(fate("beyond"), Immovable::kLandingPads) << "its pad is outside of it";
  EXPECT_EQ(fate("unknown"), Immovable::kLandingPads) << "nobody knows what that routine looks at";
  EXPECT_EQ(fate("elsewhere"), Immovable::kLandingPads) << "its pads count from an address";
}

TEST_F(ForeignTest, PersonalitiesAreKnownBehindAWordToo) {
  const auto by_word = [](const std::string& name, const std::string& personality) {
    return framed(name, "push %rbx\ncall leaf\npop %rbx\nret", ".cfi_personality 0x9b, DW.ref." + personality) +
           ".section .data.DW.ref." + personality + ",\"aw\"\n.type DW.ref." + personality + ",@object\n.size DW.ref." +
           personality + ", 8\nDW.ref." + personality + ": .quad " + personality + "\n.text\n";
  };
  analyze_assembly(kStart + kPersonality + by_word("known", "__gcc_personality_v0") + by_word("unknown", "someones_personality"));
  EXPECT_EQ(fate("known"), Immovable::kNo);
  EXPECT_EQ(fate("unknown"), Immovable::kLandingPads);
}

TEST_F(ForeignTest, NothingMovesUnderARuntimeThatWalksCode) {
  analyze_assembly(kStart + listed("ours", "mov $1, %eax\nret\nnop") +
                   ".data\n.globl caml_frametable\ncaml_frametable: .quad leaf\n.text\n");
  EXPECT_EQ(fate("leaf"), Immovable::kWalksCode);
  EXPECT_EQ(fate("ours"), Immovable::kNo) << "of that our pass knows more";
  EXPECT_TRUE(header().flags & abi::kCodeWalked);
  EXPECT_EQ(version(), abi::kCodeVersion);
  // Nor where there is no list and nobody asked for all.
  options_ = {};
  for (const char* section : {".gopclntab", ".llvm_stackmaps", ".llvm_faultmaps", "sanmd_covered2"}) {
    analyze_assembly(kStart + ".section " + section + ",\"a\"\n.quad 1\n.text\n");
    EXPECT_EQ(fate("leaf"), Immovable::kWalksCode) << section;
  }
}

TEST_F(ForeignTest, WhatStartsOrResolvesOrHoldsLibcStays) {
  const std::string resolver = ".p2align 4\n.globl chosen\n.type chosen,@gnu_indirect_function\nchosen:\n.cfi_startproc\n"
                               "lea leaf(%rip), %rax\nret\n.cfi_endproc\n.size chosen, .-chosen\n";
  const std::string unwinder = framed("_Unwind_Resume", "mov $8, %eax\nret");
  analyze_assembly(kStart + resolver + unwinder);
  EXPECT_EQ(fate("chosen"), Immovable::kSystem);
  EXPECT_EQ(fate("_Unwind_Resume"), Immovable::kSystem);
  EXPECT_EQ(fate("leaf"), Immovable::kNo);
  analyze_assembly(kStart + listed("ours", "mov $1, %eax\nret\nnop"), "-static");
  EXPECT_EQ(fate("leaf"), Immovable::kSystem);
  EXPECT_EQ(fate("ours"), Immovable::kNo);
}

// Of code that our pass has seen, a table whose entry is loaded and jumped to is a switch's. Foreign code may do with what it
// loaded whatever it likes, so there the jump itself has to read the table.
TEST_F(ForeignTest, AbsoluteTablesCountWhereTheJumpReadsThem) {
  const auto loads = [](const std::string& name) {
    return "mov .Ltable_" + name + "(,%rax,8), %rdx\njmp *%rdx\n" + name + "_1: ret\n" + name + "_2: ret";
  };
  const auto table = [](const std::string& name) {
    return ".section .rodata\n.p2align 3\n.Ltable_" + name + ":\n.quad " + name + "_1, " + name + "_2\n.text\n";
  };
  const std::string kGap = ".section .rodata\n.quad 0\n.text\n";
  analyze_assembly(kStart + listed("ours", loads("ours")) + framed("theirs", loads("theirs")) +
                       framed("direct", "jmp *.Ltable_direct(,%rax,8)\ndirect_1: ret\ndirect_2: ret") + table("ours") +
                       kGap + table("theirs") + kGap + table("direct"),
                   "-no-pie");
  const auto tables_of = [this](const std::string& name) {
    size_t count = 0;
    for (const JumpTable& found : analysis_->tables) count += found.function == index(name);
    return count;
  };
  EXPECT_EQ(tables_of("ours"), 1u);
  EXPECT_EQ(tables_of("theirs"), 0u);
  EXPECT_EQ(tables_of("direct"), 1u);
  EXPECT_EQ(fate("theirs"), Immovable::kNo);
  EXPECT_TRUE(function("theirs").leaves) << "its copies jump into the original, and it says so";
  EXPECT_FALSE(function("direct").leaves);
}

FlagUse use_of(std::initializer_list<uint8_t> bytes) {
  Instruction instruction;
  const std::vector<uint8_t> code(bytes);
  EXPECT_TRUE(decode(code, instruction));
  return flag_use(instruction, code);
}

TEST(Flags, AreWhatTheManualSays) {
  EXPECT_EQ(use_of({0x83, 0xe8, 0x01}).writes, kAllFlags);             // sub $1, %eax
  EXPECT_EQ(use_of({0x83, 0xd0, 0x00}).reads & kCarry, kCarry);        // adc $0, %eax
  EXPECT_EQ(use_of({0xff, 0xc0}).writes, kAllFlags & ~kCarry);         // inc %eax
  EXPECT_EQ(use_of({0x0f, 0xa3, 0xc6}).writes, kCarry);                // bt %eax, %esi
  EXPECT_EQ(use_of({0x0f, 0x94, 0xc0}).reads, kZero);                  // sete %al
  EXPECT_EQ(use_of({0x0f, 0x47, 0xc1}).reads, kCarry | kZero);         // cmova %ecx, %eax
  EXPECT_EQ(use_of({0xc1, 0xe8, 0x05}).writes, kAllFlags);             // shr $5, %eax
  EXPECT_EQ(use_of({0xc1, 0xe8, 0x20}).writes, 0);                     // shr $32, %eax: by 0
  EXPECT_EQ(use_of({0xd3, 0xe8}).writes, 0);                           // shr %cl, %eax
  EXPECT_EQ(use_of({0xd1, 0xd0}).reads, kCarry);                       // rcl %eax
  EXPECT_EQ(use_of({0x48, 0x8d, 0x47, 0x08}).writes, 0);               // lea 8(%rdi), %rax
  EXPECT_EQ(use_of({0x9c}).reads, kAllFlags);                          // pushf
  EXPECT_EQ(use_of({0xda, 0xc1}).reads, kAllFlags);                    // fcmovb
  EXPECT_EQ(use_of({0xc5, 0xf8, 0x2e, 0xc1}).writes, kAllFlags);       // vucomiss %xmm1, %xmm0
  EXPECT_EQ(use_of({0x66, 0x0f, 0x38, 0xf6, 0xc1}).reads, kAllFlags);  // adcx %ecx, %eax
}

}  // namespace
}  // namespace stab::postlink
