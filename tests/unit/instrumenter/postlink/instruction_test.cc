// The decoder against LLVM's: whatever both accept has the same length, the same kind of PC-relative field, and
// what ours refuses is on a short list.
#include "runtime/arch/x86_64/instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;
using arch::x86_64::operand_bytes;

// Set to try more; 0.3 million take about half a second.
constexpr int kRandomEncodings = 300'000;

class LlvmDecoder {
 public:
  enum class Syntax { kAtt, kIntel };
  explicit LlvmDecoder(Syntax syntax = Syntax::kAtt) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    context_ = LLVMCreateDisasm("x86_64-linux-gnu", nullptr, 0, nullptr, nullptr);
    if (syntax == Syntax::kIntel) LLVMSetDisasmOptions(context_, LLVMDisassembler_Option_AsmPrinterVariant);
  }
  ~LlvmDecoder() { LLVMDisasmDispose(context_); }

  struct Answer {
    size_t length = 0;  // 0: no instruction
    std::string text;
  };

  // LLVM prints some prefixes as instructions of their own: they are taken together with what follows.
  Answer decode(std::vector<uint8_t> code) {
    Answer answer;
    for (;;) {
      char text[256];
      const size_t length = LLVMDisasmInstruction(context_, code.data() + answer.length,
                                                  code.size() - answer.length, 0, text, sizeof text);
      if (length == 0) return {};
      answer.length += length;
      answer.text = text;
      answer.text.erase(0, answer.text.find_first_not_of("\t "));
      while (take_prefix(answer.text)) continue;
      if (!answer.text.empty()) return answer;
    }
  }

 private:
  static bool take_prefix(std::string& text) {
    const size_t end = std::min(text.find_first_of("\t "), text.size());
    const std::string word = text.substr(0, end);
    for (const char* prefix : {"data16", "rep", "repe", "repne", "lock", "rex64", "cs", "ds", "es", "fs", "gs", "ss",
                               "addr32", "xacquire", "xrelease", "notrack", "bnd"})
      if (word == prefix) {
        text.erase(0, std::min(text.find_first_not_of("\t ", end), text.size()));
        return true;
      }
    return false;
  }

  LLVMDisasmContextRef context_;
};

std::string hex(const std::vector<uint8_t>& bytes, size_t count) {
  std::string out;
  char text[4];
  for (size_t i = 0; i < count; ++i) snprintf(text, sizeof text, "%02x ", bytes[i]), out += text;
  return out;
}

// "callq 5", "jne -3", "loop 0", "xbegin 7": the operand is a number.
bool is_direct_branch(const std::string& text) {
  const size_t gap = text.find_first_of("\t ");
  const std::string name = text.substr(0, gap);
  const bool branches = name.starts_with("j") || name.starts_with("call") || name.starts_with("loop") ||
                        name.starts_with("xbegin");
  const size_t operand = text.find_first_not_of("\t ", gap);
  return branches && operand != std::string::npos &&
         (isdigit(text[operand]) || text[operand] == '-');
}

class DecoderAgainstLlvm : public testing::Test {
 protected:
  // A failure text, empty when the two agree.
  std::string disagreement(const std::vector<uint8_t>& code) {
    Instruction ours;
    if (!decode(code, ours)) return {};
    const auto theirs = llvm_.decode(code);
    if (theirs.length == 0 || theirs.length > 15) return {};
    ++both_;
    const std::string shown = hex(code, theirs.length) + theirs.text;
    if (ours.length != theirs.length) return shown + ": we say length " + std::to_string(ours.length);
    if (ours.rip_relative != (theirs.text.find("(%rip)") != std::string::npos ||
                              theirs.text.find("(%eip)") != std::string::npos))
      return shown + ": rip-relative?";
    if (ours.is_branch != is_direct_branch(theirs.text)) return shown + ": branch?";
    return {};
  }

  LlvmDecoder llvm_;
  int both_ = 0;
};

std::vector<uint8_t> random_encoding(std::mt19937& random) {
  const auto byte = [&random] { return static_cast<uint8_t>(random()); };
  std::vector<uint8_t> code;
  code.reserve(32);
  const unsigned form = random() % 16;
  if (random() % 4 == 0) code.push_back(std::array<uint8_t, 6>{0x66, 0x67, 0xf2, 0xf3, 0x2e, 0xf0}[random() % 6]);
  if (form < 8 && random() % 2) code.push_back(0x40 | (byte() & 15));
  if (form >= 2 && form < 5) code.push_back(0x0f);
  if (form == 5) code.insert(code.end(), {0x0f, 0x38});
  if (form == 6) code.insert(code.end(), {0x0f, 0x3a});
  if (form == 8 || form == 9) code.push_back(0xc5);
  if (form == 10 || form == 11) code.push_back(0xc4);
  if (form == 12 || form == 13) code.push_back(0x62);
  while (code.size() < 24) code.push_back(byte());
  return code;
}

TEST_F(DecoderAgainstLlvm, AgreesOnRandomEncodings) {
  std::mt19937 random(1);
  for (int i = 0; i < kRandomEncodings; ++i) ASSERT_EQ(disagreement(random_encoding(random)), "");
  EXPECT_GT(both_, kRandomEncodings / 4);
}

// What Intel's syntax calls the memory operand; 0: it says nothing, or there is none. "dword ptr [rax]{1to4}" is one element.
unsigned bytes_by_name(const std::string& text) {
  const size_t end = text.find(" ptr");
  if (end == std::string::npos) return 0;
  const size_t gap = text.find_last_of(" \t,", end - 1);
  const std::string word = text.substr(gap + 1, end - gap - 1);
  for (const auto& [name, bytes] : {std::pair{"byte", 1u}, {"word", 2u}, {"dword", 4u}, {"qword", 8u}, {"tbyte", 10u},
                                    {"xmmword", 16u}, {"ymmword", 32u}, {"zmmword", 64u}})
    if (word == name) return bytes;
  return 0;
}

TEST(OperandBytes, AreThoseThatLlvmNames) {
  LlvmDecoder llvm(LlvmDecoder::Syntax::kIntel);
  std::mt19937 random(2);
  int same = 0;
  for (int i = 0; i < kRandomEncodings; ++i) {
    const std::vector<uint8_t> code = random_encoding(random);
    Instruction ours;
    if (!decode(code, ours)) continue;
    const auto theirs = llvm.decode(code);
    const unsigned named = bytes_by_name(theirs.text);
    if (theirs.length != ours.length || named == 0 || operand_bytes(ours) == 0) continue;
    ASSERT_EQ(operand_bytes(ours), named) << hex(code, theirs.length) << theirs.text;
    ++same;
  }
  EXPECT_GT(same, kRandomEncodings / 10);
}

TEST_F(DecoderAgainstLlvm, AcceptsEveryOpcodeThatLlvmDoesButTheRefusedOnes) {
  for (int map = 0; map < 2; ++map) {
    for (int opcode = 0; opcode < 256; ++opcode) {
      std::vector<uint8_t> code(24, 0);
      size_t at = 0;
      if (map == 1) code[at++] = 0x0f;
      code[at] = static_cast<uint8_t>(opcode);
      code[at + 1] = 0xc0;
      const auto theirs = llvm_.decode(code);
      Instruction ours;
      const bool three_d_now = map == 1 && (opcode == 0x0e || opcode == 0x0f);
      const bool padlock = map == 1 && (opcode == 0xa6 || opcode == 0xa7);
      const bool apx = map == 0 && opcode == 0xd5;
      if (theirs.length == 0 || three_d_now || padlock || apx) continue;
      EXPECT_TRUE(decode(code, ours)) << hex(code, 4) << theirs.text;
    }
  }
}

Instruction decoded(std::vector<uint8_t> code) {
  Instruction instruction;
  EXPECT_TRUE(decode(code, instruction));
  return instruction;
}

TEST(Decoder, FindsTheFieldInFrontOfAnImmediate) {
  // cmpl $1, 0x10(%rip)
  const Instruction compare = decoded({0x83, 0x3d, 0x10, 0, 0, 0, 0x01});
  EXPECT_TRUE(compare.rip_relative);
  EXPECT_EQ(compare.displacement_at, 2);
  EXPECT_EQ(compare.length, 7);
}

// What compilers read constants with.
TEST(OperandBytes, AreKnownOfReadsOfConstants) {
  EXPECT_EQ(operand_bytes(decoded({0xf2, 0x0f, 0x59, 0x05, 1, 0, 0, 0})), 8u);         // mulsd
  EXPECT_EQ(operand_bytes(decoded({0xf3, 0x0f, 0x10, 0x05, 1, 0, 0, 0})), 4u);         // movss
  EXPECT_EQ(operand_bytes(decoded({0xf2, 0x44, 0x0f, 0x10, 0x05, 1, 0, 0, 0})), 8u);   // movsd to %xmm8
  EXPECT_EQ(operand_bytes(decoded({0x66, 0x0f, 0x2e, 0x05, 1, 0, 0, 0})), 8u);         // ucomisd
  EXPECT_EQ(operand_bytes(decoded({0x0f, 0x28, 0x05, 1, 0, 0, 0})), 16u);              // movaps
  EXPECT_EQ(operand_bytes(decoded({0x66, 0x0f, 0x54, 0x05, 1, 0, 0, 0})), 16u);        // andpd
  EXPECT_EQ(operand_bytes(decoded({0x66, 0x0f, 0xfe, 0x05, 1, 0, 0, 0})), 16u);        // paddd
  EXPECT_EQ(operand_bytes(decoded({0xc5, 0xfb, 0x59, 0x05, 1, 0, 0, 0})), 8u);         // vmulsd
  EXPECT_EQ(operand_bytes(decoded({0xc5, 0xfc, 0x28, 0x05, 1, 0, 0, 0})), 32u);        // vmovaps to %ymm0
  EXPECT_EQ(operand_bytes(decoded({0xc4, 0xe2, 0xf9, 0xa9, 0x05, 1, 0, 0, 0})), 8u);   // vfmadd213sd
  EXPECT_EQ(operand_bytes(decoded({0xc4, 0xe2, 0x7d, 0x19, 0x05, 1, 0, 0, 0})), 8u);   // vbroadcastsd
  EXPECT_EQ(operand_bytes(decoded({0x62, 0xf1, 0xfd, 0x58, 0x59, 0x05, 1, 0, 0, 0})), 8u);  // vmulpd, one for all
  EXPECT_EQ(operand_bytes(decoded({0xdb, 0x2d, 1, 0, 0, 0})), 10u);                    // fldt
  EXPECT_EQ(operand_bytes(decoded({0xd9, 0x05, 1, 0, 0, 0})), 4u);                     // flds
  EXPECT_EQ(operand_bytes(decoded({0x8b, 0x05, 1, 0, 0, 0})), 4u);                     // mov
  EXPECT_EQ(operand_bytes(decoded({0x48, 0x8d, 0x05, 1, 0, 0, 0})), 0u);               // lea
}

TEST(Decoder, SeesBranchesThroughPrefixes) {
  // data16 data16 rex64 call (TLS), addr32 call (relaxed GOT call), notrack jmp *%rax
  EXPECT_TRUE(decoded({0x66, 0x66, 0x48, 0xe8, 1, 0, 0, 0}).is_call());
  EXPECT_TRUE(decoded({0x67, 0xe8, 1, 0, 0, 0}).is_call());
  EXPECT_TRUE(decoded({0x3e, 0xff, 0xe0}).is_indirect_jump());
}

TEST(Decoder, RefusesWhatProcessorsReadDifferently) {
  Instruction instruction;
  const std::vector<uint8_t> short_operand_call{0x66, 0xe8, 1, 0, 0, 0};
  EXPECT_FALSE(decode(short_operand_call, instruction));
}

TEST(Decoder, RefusesTruncatedCode) {
  Instruction instruction;
  const std::vector<uint8_t> half_call{0xe8, 1, 0};
  EXPECT_FALSE(decode(half_call, instruction));
}

TEST(Decoder, TellsSpeculativeLoadHardening) {
  EXPECT_TRUE(decoded({0x48, 0x09, 0xc4}).marks_stack_pointer());         // or %rax, %rsp
  EXPECT_TRUE(decoded({0x4c, 0x09, 0xc4}).marks_stack_pointer());         // or %r8, %rsp
  EXPECT_TRUE(decoded({0x48, 0x0b, 0xe0}).marks_stack_pointer());         // or %rax, %rsp
  EXPECT_FALSE(decoded({0x49, 0x09, 0xc4}).marks_stack_pointer());        // or %rax, %r12
  EXPECT_FALSE(decoded({0x48, 0x09, 0xe0}).marks_stack_pointer());        // or %rsp, %rax
  EXPECT_FALSE(decoded({0x48, 0x09, 0x04, 0x24}).marks_stack_pointer());  // or %rax, (%rsp)
}

TEST(Decoder, TellsStackSwitchesFromFrames) {
  EXPECT_TRUE(decoded({0x48, 0x8b, 0x26}).loads_stack_from_elsewhere());         // mov (%rsi), %rsp
  EXPECT_FALSE(decoded({0x48, 0x8b, 0x65, 0xd8}).loads_stack_from_elsewhere());  // mov -40(%rbp), %rsp
  EXPECT_TRUE(decoded({0x48, 0x8b, 0x24, 0xc2}).loads_stack_from_elsewhere());  // mov (%rdx,%rax,8), %rsp
  EXPECT_TRUE(decoded({0x48, 0x8b, 0x24, 0x04}).loads_stack_from_elsewhere());  // mov (%rsp,%rax), %rsp
  EXPECT_FALSE(decoded({0x48, 0x8b, 0x24, 0x24}).loads_stack_from_elsewhere());  // mov (%rsp), %rsp
  EXPECT_TRUE(decoded({0x48, 0x8b, 0x24, 0x24}).loads_stack_from_variable());
  EXPECT_FALSE(decoded({0x48, 0x8b, 0x24, 0x04}).loads_stack_from_variable());   // mov (%rsp,%rax), %rsp
  EXPECT_FALSE(decoded({0x48, 0x8b, 0x65, 0xd8}).loads_stack_from_variable());
  EXPECT_TRUE(decoded({0x64, 0x48, 0x8b, 0x24, 0x25, 0xf8, 0xff, 0xff, 0xff}).loads_stack_from_elsewhere());  // mov %fs:-8, %rsp
  EXPECT_TRUE(decoded({0x48, 0xcf}).loads_stack_from_elsewhere());              // iretq
  EXPECT_FALSE(decoded({0xcf}).loads_stack_from_elsewhere());                   // iret, of 32 bits: in tables among the code
  EXPECT_TRUE(decoded({0x48, 0x0f, 0xb2, 0x26}).loads_stack_from_elsewhere());  // lss (%rsi), %rsp
  EXPECT_TRUE(decoded({0x48, 0x94}).loads_stack_from_elsewhere());              // xchg %rax, %rsp
  EXPECT_FALSE(decoded({0x49, 0x94}).loads_stack_from_elsewhere());             // xchg %rax, %r12
  EXPECT_TRUE(decoded({0x48, 0x01, 0xc4}).loads_stack_from_elsewhere());        // add %rax, %rsp
  EXPECT_TRUE(decoded({0x48, 0x03, 0x27}).loads_stack_from_elsewhere());        // add (%rdi), %rsp
  EXPECT_TRUE(decoded({0x48, 0x31, 0xc4}).loads_stack_from_elsewhere());        // xor %rax, %rsp
  EXPECT_FALSE(decoded({0x48, 0x09, 0xc4}).loads_stack_from_elsewhere());       // or %rax, %rsp
  EXPECT_TRUE(decoded({0x48, 0x0f, 0xc1, 0xc4}).loads_stack_from_elsewhere());   // xadd %rax, %rsp
  EXPECT_TRUE(decoded({0x48, 0x0f, 0xc1, 0x27}).loads_stack_from_elsewhere());   // xadd %rsp, (%rdi)
  EXPECT_FALSE(decoded({0x48, 0x0f, 0xc1, 0x07}).loads_stack_from_elsewhere());  // xadd %rax, (%rdi)
  EXPECT_TRUE(decoded({0x48, 0x0f, 0x45, 0xe7}).loads_stack_from_elsewhere());  // cmovne %rdi, %rsp
  EXPECT_FALSE(decoded({0x48, 0x29, 0xc4}).loads_stack_from_elsewhere());       // sub %rax, %rsp
  EXPECT_FALSE(decoded({0x48, 0x83, 0xc4, 0x18}).loads_stack_from_elsewhere());  // add $24, %rsp
  EXPECT_FALSE(decoded({0x49, 0x01, 0xc4}).loads_stack_from_elsewhere());       // add %rax, %r12
  EXPECT_FALSE(decoded({0x4c, 0x03, 0x27}).loads_stack_from_elsewhere());       // add (%rdi), %r12
  EXPECT_FALSE(decoded({0x48, 0x39, 0xc4}).loads_stack_from_elsewhere());       // cmp %rax, %rsp
  EXPECT_FALSE(decoded({0x48, 0x01, 0x27}).loads_stack_from_elsewhere());       // add %rsp, (%rdi)
  EXPECT_TRUE(decoded({0x48, 0x89, 0xfc}).loads_stack_from_register());       // mov %rdi, %rsp
  EXPECT_FALSE(decoded({0x48, 0x89, 0xec}).loads_stack_from_register());      // mov %rbp, %rsp
}

TEST(Decoder, TellsStackSwitchesByComputedAddresses) {
  EXPECT_TRUE(decoded({0x48, 0x8d, 0x26}).loads_stack_from_register());                     // lea (%rsi), %rsp
  EXPECT_TRUE(decoded({0x49, 0x8d, 0x62, 0xf8}).loads_stack_from_register());               // lea -8(%r10), %rsp
  EXPECT_TRUE(decoded({0x49, 0x8d, 0x65, 0x08}).loads_stack_from_register());               // lea 8(%r13), %rsp
  EXPECT_TRUE(decoded({0x48, 0x8d, 0x24, 0x06}).loads_stack_from_register());               // lea (%rsi,%rax), %rsp
  EXPECT_TRUE(decoded({0x48, 0x8d, 0x24, 0x04}).loads_stack_from_register());               // lea (%rsp,%rax), %rsp
  EXPECT_TRUE(decoded({0x49, 0x8d, 0x24, 0x24}).loads_stack_from_register());               // lea (%r12), %rsp
  EXPECT_TRUE(decoded({0x48, 0x8d, 0x25, 1, 0, 0, 0}).loads_stack_from_register());         // lea 1(%rip), %rsp
  EXPECT_FALSE(decoded({0x48, 0x8d, 0x64, 0x24, 0x08}).loads_stack_from_register());        // lea 8(%rsp), %rsp
  EXPECT_FALSE(decoded({0x48, 0x8d, 0x65, 0xd8}).loads_stack_from_register());              // lea -40(%rbp), %rsp
  EXPECT_FALSE(decoded({0x4c, 0x8d, 0x26}).loads_stack_from_register());                    // lea (%rsi), %r12
  EXPECT_TRUE(decoded({0x66, 0x48, 0x0f, 0x7e, 0xc4}).loads_stack_from_elsewhere());        // movq %xmm0, %rsp
  EXPECT_FALSE(decoded({0xf3, 0x0f, 0x7e, 0xc4}).loads_stack_from_elsewhere());             // movq %xmm4, %xmm0
  EXPECT_FALSE(decoded({0x66, 0x49, 0x0f, 0x7e, 0xc4}).loads_stack_from_elsewhere());       // movq %xmm0, %r12
}

TEST(Decoder, TellsFramePointersFromElsewhere) {
  EXPECT_TRUE(decoded({0xc9}).loads_stack_from_frame_pointer());                            // leave
  EXPECT_TRUE(decoded({0x48, 0x89, 0xec}).loads_stack_from_frame_pointer());                // mov %rbp, %rsp
  EXPECT_TRUE(decoded({0x48, 0x8b, 0xe5}).loads_stack_from_frame_pointer());                // mov %rbp, %rsp
  EXPECT_TRUE(decoded({0x48, 0x8d, 0x65, 0xd8}).loads_stack_from_frame_pointer());          // lea -40(%rbp), %rsp
  EXPECT_TRUE(decoded({0x48, 0x8b, 0x65, 0xd8}).loads_stack_from_frame_pointer());          // mov -40(%rbp), %rsp
  EXPECT_TRUE(decoded({0x48, 0x8b, 0x65, 0xd8}).loads_stack_from_frame());                  // mov -40(%rbp), %rsp
  EXPECT_FALSE(decoded({0x49, 0x8b, 0x65, 0xd8}).loads_stack_from_frame());                 // mov -40(%r13), %rsp
  EXPECT_FALSE(decoded({0x4c, 0x8b, 0x65, 0xd8}).loads_stack_from_frame());                 // mov -40(%rbp), %r12
  EXPECT_FALSE(decoded({0x48, 0x8b, 0x64, 0x24, 0x08}).loads_stack_from_frame());           // mov 8(%rsp), %rsp
  EXPECT_FALSE(decoded({0x48, 0x8d, 0x65, 0xd8}).loads_stack_from_frame());                 // lea -40(%rbp), %rsp
  EXPECT_FALSE(decoded({0x48, 0x89, 0xfc}).loads_stack_from_frame_pointer());               // mov %rdi, %rsp
  EXPECT_FALSE(decoded({0x49, 0x89, 0xec}).loads_stack_from_frame_pointer());               // mov %rbp, %r12
  EXPECT_TRUE(decoded({0x48, 0x89, 0xf5}).loads_frame_pointer_from_elsewhere());            // mov %rsi, %rbp
  EXPECT_TRUE(decoded({0x48, 0x8b, 0x2e}).loads_frame_pointer_from_elsewhere());            // mov (%rsi), %rbp
  EXPECT_TRUE(decoded({0x48, 0x8d, 0x6e, 0xf8}).loads_frame_pointer_from_elsewhere());      // lea -8(%rsi), %rbp
  EXPECT_FALSE(decoded({0x48, 0x89, 0xe5}).loads_frame_pointer_from_elsewhere());           // mov %rsp, %rbp
  EXPECT_FALSE(decoded({0x48, 0x8b, 0x6c, 0x24, 0x08}).loads_frame_pointer_from_elsewhere());  // mov 8(%rsp), %rbp
  EXPECT_FALSE(decoded({0x48, 0x8d, 0x6c, 0x24, 0x08}).loads_frame_pointer_from_elsewhere());  // lea 8(%rsp), %rbp
  EXPECT_FALSE(decoded({0x49, 0x89, 0xf5}).loads_frame_pointer_from_elsewhere());           // mov %rsi, %r13
}

}  // namespace
}  // namespace stab::postlink
