// Who moves and who stays, on small pieces of assembly.
#include "instrumenter/postlink/movability.h"

#include <gmock/gmock.h>

#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

using abi::Immovable;
using MovabilityTest = AssembledTest;

const std::string kPlainStart = assembly_function("start", "push %rbp\ncall leaf\npop %rbp\nret") +
                                assembly_function("leaf", "mov $1, %eax\nret\nnop\nnop");

TEST_F(MovabilityTest, WellFormedFunctionsMove) {
  analyze_assembly(kPlainStart);
  EXPECT_EQ(fate("start"), Immovable::kNo);
  EXPECT_EQ(fate("leaf"), Immovable::kNo);
}

TEST_F(MovabilityTest, TooShortForAJumpStays) {
  analyze_assembly(kPlainStart + assembly_function("tiny", "ret"));
  EXPECT_EQ(fate("tiny"), Immovable::kTooShort);
}

TEST_F(MovabilityTest, EntryAcrossAnAlignedWordStays) {
  analyze_assembly(kPlainStart +
                   ".p2align 4\n.skip 4, 0xcc\n.type odd,@function\nodd: mov $1, %eax\nret\n.size odd, .-odd\n");
  EXPECT_EQ(fate("odd"), Immovable::kEntryCrosses8);
}

TEST_F(MovabilityTest, SymbolWithoutSizeStays) {
  analyze_assembly(kPlainStart + ".p2align 4\n.type bare,@function\nbare: mov $1, %eax\nret\n");
  EXPECT_EQ(fate("bare"), Immovable::kNoSize);
}

TEST_F(MovabilityTest, SymbolInsideAnotherMakesItStay) {
  analyze_assembly(kPlainStart +
                   assembly_function("outer", "mov $1, %eax\n.type inner,@function\ninner: mov $2, %ecx\nret\n"
                                              ".size inner, .-inner"));
  EXPECT_EQ(fate("outer"), Immovable::kOverlaps);
}

TEST_F(MovabilityTest, AliasesAreOneFunction) {
  analyze_assembly(kPlainStart + ".type second,@function\n.set second, leaf\n.size second, 8\n");
  EXPECT_EQ(fate("leaf"), Immovable::kNo);
  EXPECT_EQ(analysis_->functions.size(), 2u);
}

TEST_F(MovabilityTest, DataAmongTheCodeIsSeen) {
  // The relocation in the data can't belong to an instruction.
  analyze_assembly(kPlainStart +
                   assembly_function("mixed", "jmp 1f\n.byte 0x48, 0xb8\n.long word - .\n1: mov $1, %eax\nret") +
                   ".data\nword: .long 0\n.text\n");
  EXPECT_EQ(fate("mixed"), Immovable::kUndecodable);
  analyze_assembly(kPlainStart + assembly_function("bad", "mov $1, %eax\nret\n.byte 0x06"));
  EXPECT_EQ(fate("bad"), Immovable::kUndecodable);
}

TEST_F(MovabilityTest, ShortJumpBetweenFunctionsKeepsBoth) {
  analyze_assembly(kPlainStart + assembly_function("from", "mov $1, %eax\n.byte 0xeb\n.byte into_label - . - 1\nnop\nnop") +
                   assembly_function("into", "mov $1, %eax\nnop\ninto_label: ret"));
  EXPECT_EQ(fate("from"), Immovable::kCrossShortJump);
  EXPECT_EQ(fate("into"), Immovable::kCrossShortJump);
}

TEST_F(MovabilityTest, AssemblyThatRunsOffItsEndStays) {
  analyze_assembly(kPlainStart + assembly_function("falls", "mov $1, %eax\ninc %eax"));
  EXPECT_EQ(fate("falls"), Immovable::kFallsThrough);
}

// As lld makes it of blocks in sections of their own.
TEST_F(MovabilityTest, ACompiledFunctionThatGoesOnInItsNextPartStays) {
  const std::string list = ".section stab_funcs,\"a\"\n.long f - .\n.long 8\n";
  const std::string falls = assembly_function("f", "mov $1, %eax\ninc %eax");
  const auto followed_by = [](const std::string& name) {
    return name + ": inc %eax\nret\n.size " + name + ", .-" + name + "\n";
  };
  analyze_assembly(kPlainStart + falls + followed_by("f.__part.1") + list);
  EXPECT_EQ(fate("f"), Immovable::kFallsThrough);
  analyze_assembly(kPlainStart + falls + followed_by("g") + list);
  EXPECT_EQ(fate("f"), Immovable::kNo) << "undefined behaviour";
  analyze_assembly(kPlainStart + falls + ".p2align 4\n" + followed_by("f.__part.1") + list);
  EXPECT_EQ(fate("f"), Immovable::kFallsThrough) << "through what aligns it";
  const std::string calls = assembly_function("f", "nop\nnop\nnop\ncall f");
  analyze_assembly(kPlainStart + calls + followed_by("f.__part.1") + list);
  EXPECT_EQ(fate("f"), Immovable::kFallsThrough) << "the call comes back";
  analyze_assembly(kPlainStart + calls + followed_by("g") + list);
  EXPECT_EQ(fate("f"), Immovable::kNo) << "it does not";
}

TEST_F(MovabilityTest, ColdPartsThatAreJumpedToStay) {
  analyze_assembly(
      kPlainStart + assembly_function("f", "cmp $1, %edi\n.byte 0x0f, 0x82\n.long f.cold - . - 4\nf_goes_on: mov $1, %eax\nret") +
      assembly_function("f.cold", ".byte 0x0f, 0x87\n.long f_goes_on - . - 4\nmov $2, %eax\nret") +
      assembly_function("g", "push %rax\ncall g.cold.1\npop %rcx\nret") + assembly_function("g.cold.1", "mov $3, %eax\nret"));
  EXPECT_EQ(fate("f.cold"), Immovable::kColdPart);
  EXPECT_EQ(fate("f"), Immovable::kNo);
  EXPECT_EQ(fate("g.cold.1"), Immovable::kNo);
}

TEST_F(MovabilityTest, ReadingItsOwnPositionByACallStays) {
  analyze_assembly(kPlainStart + assembly_function("where", "call 1f\n1: pop %rax\nret\nnop"));
  EXPECT_EQ(fate("where"), Immovable::kUnresolvedField);
}

TEST_F(MovabilityTest, LoopToItsFirstBytesMovesWhileTheOriginalCannotRun) {
  const std::string loop = "inc %eax\n1: dec %ecx\njnz 1b\nret";  // the loop starts at byte 2
  analyze_assembly(kPlainStart + assembly_function("loop", loop));
  EXPECT_EQ(fate("loop"), Immovable::kNo);
}

TEST_F(MovabilityTest, LoopToItsFirstBytesStaysWhenALabelOfItIsAValue) {
  analyze_assembly(kPlainStart + assembly_function("loop", "inc %eax\n1: dec %ecx\njnz 1b\nlea 2f(%rip), %rax\n2: ret"));
  EXPECT_EQ(fate("loop"), Immovable::kEntryIsTarget);
}

TEST_F(MovabilityTest, LoopToItsFirstBytesStaysWhenAnotherJumpsIntoIt) {
  analyze_assembly(kPlainStart +
                   assembly_function("loop", "inc %eax\n1: dec %ecx\njnz 1b\nmiddle: mov $1, %eax\nret") +
                   assembly_function("other", "mov $1, %eax\n.byte 0xe9\n.long middle - . - 4"));
  EXPECT_EQ(fate("loop"), Immovable::kEntryIsTarget);
}

TEST_F(MovabilityTest, LoopToItsFirstBytesStaysWithAnIndirectJumpNobodyExplains) {
  analyze_assembly(kPlainStart + assembly_function("loop", "inc %eax\n1: dec %ecx\njnz 1b\njmp *%rax"));
  EXPECT_EQ(fate("loop"), Immovable::kEntryIsTarget);
}

TEST_F(MovabilityTest, JumpFromOutsideToItsFirstBytesKeepsIt) {
  analyze_assembly(kPlainStart + assembly_function("target", "inc %eax\nsecond: mov $1, %eax\nret") +
                   assembly_function("other", "mov $1, %eax\n.byte 0xe9\n.long second - . - 4"));
  EXPECT_EQ(fate("target"), Immovable::kEntryIsTarget);
  EXPECT_EQ(fate("other"), Immovable::kNo);
}

// A table with an entry into another function is none, and its jumps lead into the original, which must not be at bytes 1 to 4.
TEST_F(MovabilityTest, ALabelOfATableThatIsNoneKeepsTheFunctionWhoseFirstBytesItLeadsTo) {
  const auto switches = [](const std::string& second_case) {
    return assembly_function("loop", "xor %eax, %eax\n.Lsecond: inc %ecx\nand $3, %ecx\n.Lfourth: lea .Ltable(%rip), %rdx\n"
                                     "movslq (%rdx,%rcx,4), %rcx\nadd %rdx, %rcx\njmp *%rcx\n.Lend: ret") +
           ".section .rodata\n.p2align 2\n.Ltable: .long .Lend - .Ltable, " + second_case +
           " - .Ltable, leaf - .Ltable\n.text\n";
  };
  analyze_assembly(kPlainStart + switches(".Lsecond"));
  EXPECT_TRUE(analysis_->tables.empty());
  EXPECT_EQ(fate("loop"), Immovable::kEntryIsTarget);
  analyze_assembly(kPlainStart + switches(".Lfourth"));
  EXPECT_EQ(fate("loop"), Immovable::kNo);
}

TEST_F(MovabilityTest, CallersOfSetjmpStay) {
  analyze_assembly(kPlainStart + assembly_function("saver", "push %rax\ncall _setjmp@PLT\npop %rcx\nret") +
                       assembly_function("by_slot", "push %rax\ncall *getcontext@GOTPCREL(%rip)\npop %rcx\nret"),
                   "-shared");
  EXPECT_EQ(fate("saver"), Immovable::kReturnsTwice);
  EXPECT_EQ(fate("by_slot"), Immovable::kReturnsTwice);
  EXPECT_FALSE(analysis_->switches_stacks);
}

// A wrapper that ends in a jump to dlsym, one around it, and who calls that; all else of a library moves.
TEST_F(MovabilityTest, CallersOfWhatJumpsToDlsymStay) {
  const std::string wrapped = kPlainStart + assembly_function("next", "xor %edi, %edi\njmp dlsym@PLT") +
                              assembly_function("around", "mov %rdi, %rsi\njmp next@PLT") +
                              assembly_function("caller", "push %rax\ncall around\npop %rcx\nret") +
                              assembly_function("plain", "push %rax\ncall *(%rdi)\ncall caller\npop %rcx\nret");
  analyze_assembly(wrapped, "-shared");
  for (const std::string name : {"next", "around", "caller"}) EXPECT_EQ(fate(name), Immovable::kAsksCaller) << name;
  EXPECT_EQ(fate("plain"), Immovable::kNo);
  analyze_assembly(wrapped + ".data\n.quad dlsym\n", "-shared");
  EXPECT_EQ(fate("plain"), Immovable::kAsksCaller) << "it may call dlsym through its pointer";
}

TEST_F(MovabilityTest, ContextSwitchesAreSeen) {
  for (const std::string callee : {"makecontext", "jump_fcontext"}) {
    analyze_assembly(kPlainStart + assembly_function("make", "push %rax\ncall " + callee + "@PLT\npop %rcx\nret"), "-shared");
    EXPECT_TRUE(analysis_->switches_stacks) << callee;
  }
  for (const std::string name : {"jump", "my_longjmp"}) {
    analyze_assembly(kPlainStart + assembly_function(name, "mov %rsp, (%rdi)\nmov (%rsi), %rsp\nret"));
    EXPECT_TRUE(analysis_->switches_stacks) << name;
  }
  // Slices of one stack are put back where they were, at a distance from the present one.
  analyze_assembly(kPlainStart + assembly_function("slide", "add %rdi, %rsp\nadd %rdi, %rbp\nret"));
  EXPECT_TRUE(analysis_->switches_stacks) << "by a distance";
  analyze_assembly(kPlainStart + assembly_function("__rust_probestack", "sub %rax, %rsp\nadd %rax, %rsp\nret"));
  EXPECT_FALSE(analysis_->switches_stacks) << "back on the same stack";
  for (const std::string plain : {"longjmp", "__longjmp", "_Unwind_Resume", "_Unwind_ForcedUnwind"}) {
    analyze_assembly(kPlainStart + assembly_function(plain, "mov 8(%rdi), %rsp\nret"));
    EXPECT_FALSE(analysis_->switches_stacks) << plain << " goes back on the same stack";
  }
  analyze_assembly(kPlainStart);
  EXPECT_FALSE(analysis_->switches_stacks);
}

// gcc's code for arrays of variable size at a scope's end, and what looks like it.
TEST_F(MovabilityTest, VariableArraysStayOnTheirStack) {
  const std::string frame = "push %rbp\nmov %rsp, %rbp\npush %rbx\n", end = "\nlea -8(%rbp), %rsp\npop %rbx\npop %rbp\nret";
  const std::pair<std::string, bool> bodies[] = {
      // A scope in a loop, with code between that names other registers.
      {frame + "sub $120, %rsp\n1: mov %rsp, %rbx\nsub %rdi, %rsp\nmov %rsp, %r15\nmovss %xmm3, %xmm5\nsub $5, %eax\ncall other\n"
               "mov %rbx, %rsp\ntest %eax, %eax\njne 1b" + end, true},
      // What fills the gap behind a jump runs for nobody.
      {frame + "mov %rsp, %rbx\njmp 1f\n.p2align 4\nnopl (%rax)\n1: mov %rbx, %rsp" + end, true},
      // The register was needed for something else meanwhile.
      {frame + "mov %rsp, %rbx\nmov %rbx, -160(%rbp)\nsub %rdi, %rsp\nmov %rdi, %rbx\ncall other\nmov -160(%rbp), %rbx\n"
               "mov %rbx, %rsp" + end, true},
      {frame + "mov %rsp, %rbx\nmov %rdi, %rsp\ncall other\nmov %rbx, %rsp" + end, false},
      {frame + "mov %rsp, %rbx\nmov (%rdi), %rbx\nmov %rbx, %rsp" + end, false},
      // Code that isn't optimized keeps its arguments in its frame, and what it saved of the stack pointer.
      {frame + "mov %rdi, -24(%rbp)\nmov -24(%rbp), %rbx\nmov %rbx, %rsp" + end, false},
      {frame + "mov %rdi, -24(%rbp)\nmov -24(%rbp), %rax\nmov %rax, -320(%rbp)\nmov -320(%rbp), %rbx\n"
               "mov %rbx, %rsp" + end, false},
      {frame + "mov %rdi, -24(%rbp)\nmov %rsp, -320(%rbp)\nmov -320(%rbp), %rax\nmov %rax, -32(%rbp)\nmov -32(%rbp), %rbx\n"
               "mov %rbx, %rsp" + end, true},
      {frame + "mov %rsp, %rbx\nadd %rdi, %rbx\nmov %rbx, %rsp" + end, false},
      {frame + "mov %rsp, %rax\ncall other\nmov %rax, %rsp" + end, false},
      {frame + "mov %rsp, %rbx\ncpuid\nmov %rbx, %rsp" + end, false},
      {frame + "mov %rsp, %r8\nxchg %rax, %r8\nmov %r8, %rsp" + end, false},
      {frame + "mov %rsp, %rax\n1: xbegin 1b\nmov %rax, %rsp" + end, false},
      {frame + "mov %rsp, %r8\nnop\npause\nmov %r8, %rsp" + end, true},
      {frame + "mov %rsp, %rbx\npext %rdi, %rsi, %rbx\nmov %rbx, %rsp" + end, false},
      {frame + "mov %rdi, %rbx\ntest %esi, %esi\nje 1f\nmov %rsp, %rbx\n1: mov %rbx, %rsp" + end, false},
      {frame + "mov %rsp, %rbx\nmov %ebx, %esp" + end, false},
      // A frame that was loaded from elsewhere, and one of nobody's.
      {"mov 16(%rdi), %rbp\nmov 8(%rbp), %rbx\nmov %rbx, %rsp\nret", false},
      {"mov 8(%rbp), %rbx\nmov %rbx, %rsp\nret", false},
      // Behind a jump by a table, from where nobody knows.
      {frame + "mov %rsp, %rbx\njmp *%rax\nmov %rbx, %rsp" + end, false},
      // But the frame pointer is known there, if it is one all through.
      {frame + "mov %rsp, %rbx\nmov %rbx, -16(%rbp)\njmp *%rax\nmov -16(%rbp), %rbx\nmov %rbx, %rsp" + end, true},
      {frame + "mov %rdi, %rbp\njmp *%rax\nmov -16(%rbp), %rbx\nmov %rbx, %rsp" + end, false},
      // Without a register between.
      {frame + "mov %rsp, -24(%rbp)\nsub %rdi, %rsp\ncall other\nmov -24(%rbp), %rsp" + end, true},
      {frame + "mov %rsp, -24(%rbp)\njmp *%rax\nmov -24(%rbp), %rsp" + end, true},
      {frame + "mov %rdi, -24(%rbp)\nmov -24(%rbp), %rsp" + end, false},
      {frame + "mov %rsp, -24(%rbp)\nmov -24(%rbp), %esp" + end, false},
      {"push %rbp\nmov %rdi, %rbp\nmov 16(%rbp), %rsp\npop %rbp\nret", false},
      {"mov 8(%rbp), %rsp\nret", false},
      // As assembly for vectors aligns its frame, and what looks like it.
      {"mov %rsp, %rax\nsub $88, %rsp\nand $-32, %rsp\nmov %rax, 64(%rsp)\nmov 64(%rsp), %rsp\nret", true},
      {"mov %rsp, %rax\nsub $88, %rsp\nand $-32, %rsp\nmov %rax, 64(%rsp)\nmov 56(%rsp), %rsp\nret", false},
      {"mov %rsp, %rax\nsub $88, %rsp\nmov %rax, 64(%rsp)\nmov %rdi, 64(%rsp)\nmov 64(%rsp), %rsp\nret", false},
      {"push %rbp\nmov %rdi, -8(%rsp)\nmov -8(%rsp), %rsp\npop %rbp\nret", false}};
  options_.only_listed = true;  // others' code, as no list says that it is ours
  for (const auto& [body, stays] : bodies) {
    analyze_assembly(kPlainStart + assembly_function("other", "ret") + assembly_function("arrays", body));
    EXPECT_EQ(analysis_->switches_stacks, !stays) << body;
  }
}

// gcc's frames of larger alignment than the stack's, rbp as any other register, and what looks like them.
TEST_F(MovabilityTest, AlignedFramesStayOnTheirStack) {
  const std::string aligned =
      "push %r13\nlea 16(%rsp), %r13\nand $-32, %rsp\npush -8(%r13)\npush %rbp\nmov %rsp, %rbp\npush %r13\n";
  const std::pair<std::string, bool> bodies[] = {
      {aligned + "pop %rdx\npop %rbp\nlea -16(%rdx), %rsp\npop %r13\nret", true},
      {aligned + "mov -8(%rbp), %r13\nleave\nlea -16(%r13), %rsp\npop %r13\nret", true},
      {aligned + "pop %rdx\npop %rbp\nlea -24(%rdx), %rsp\npop %r13\nret", false},
      {aligned + "pop %rbp\npop %rdx\nlea -16(%rdx), %rsp\npop %r13\nret", false},
      {"lea 8(%rsp), %r10\nlea -8(%r10), %rsp\nret", true},
      {"lea (%rsi), %rsp\nret", false},
      {"xor %eax, %eax\nlea (%rsp,%rax), %rsp\nret", false},
      {"movq %rsi, %xmm0\nmovq %xmm0, %rsp\nret", false},
      {"push %rbp\nmov %rdi, %rbp\ncall other\nmov %rsp, %rbp\npush %rax\ncall other\nmov %rbp, %rsp\npop %rbp\nret", true},
      {"mov %rsi, %rbp\nmov %rbp, %rsp\nret", false},
      {"lea -8(%rsi), %rbp\nleave\nret", false}};
  options_.only_listed = true;  // others' code, as no list says that it is ours
  for (const auto& [body, stays] : bodies) {
    analyze_assembly(kPlainStart + assembly_function("other", "ret") + assembly_function("frames", body));
    EXPECT_EQ(analysis_->switches_stacks, !stays) << body;
  }
}

// Arrays that a program makes executable: with a name or none, constant or not; and what only looks like a switch.
TEST_F(MovabilityTest, ContextSwitchesInDataAreSeen) {
  const std::string memory = "0x48, 0x89, 0x26, 0x48, 0x8b, 0x27, ";  // mov %rsp, (%rsi); mov (%rdi), %rsp
  const std::string restore = "0x5b, 0x5d, ";
  const std::pair<std::string, bool> arrays[] = {
      {"0x06, 0x53, " + memory + restore + "0xc3, 0x06", true},
      // mov 8(%rdi), %rbp; mov 16(%rdi), %rbx; jmp *%rax
      {memory + "0x58, 0x48, 0x8b, 0x6f, 0x08, 0x48, 0x8b, 0x5f, 0x10, 0xff, 0xe0", true},
      {"0x48, 0x89, 0xe0, 0x48, 0x89, 0xfc, " + restore + "0xc3", true},      // mov %rsp, %rax; mov %rdi, %rsp
      {"0x48, 0x87, 0x27, " + restore + "0xc3", true},                        // xchg %rsp, (%rdi)
      {"0x49, 0x89, 0x22, 0x49, 0x87, 0xe3, " + restore + "0xc3", true},      // mov %rsp, (%r10); xchg %rsp, %r11
      {"0x48, 0x89, 0xe0, 0x48, 0x89, 0xc4, " + restore + "0xc3", false},     // mov %rsp, %rax; mov %rax, %rsp
      {"0x48, 0x89, 0x65, 0xf8, 0x48, 0x8b, 0x65, 0xf8, " + restore + "0xc3", false},  // to the frame and back
      {memory + "0x06, " + restore + "0xc3", false},                          // what is no instruction
      {memory + "0x00, 0x00, " + restore + "0xc3", false},                    // what no switch does
      {memory + "0x5b, 0x5d", false},                                        // goes on nowhere
      {memory + "0x5d, 0xc3", false},                                         // restores rbp alone
      {"0x48, 0x89, 0x26, " + restore + "0xc3", false}};                      // keeps it alone
  for (const auto& [bytes, switches] : arrays)
    for (const std::string section : {".section .rodata", ".data"}) {
      analyze_assembly(kPlainStart + section + "\n.byte " + bytes + "\n.text\n");
      EXPECT_EQ(analysis_->switches_stacks, switches) << section << ": " << bytes;
    }
}

// Assembly without .type or .size, and instructions in a constant array.
TEST_F(MovabilityTest, ContextSwitchesOutsideOfFunctionsAreSeen) {
  const std::string change = "push %rbp\nmov %rsp, (%rdi)\nmov %rsi, %rsp\npop %rbp\nret\n";
  analyze_assembly(kPlainStart + ".globl change\nchange: " + change);
  EXPECT_TRUE(analysis_->switches_stacks) << "without a type";
  analyze_assembly(kPlainStart + ".type change,@function\nchange: " + change);
  EXPECT_TRUE(analysis_->switches_stacks) << "without a size";
  analyze_assembly(kPlainStart + "change: push %rbp\nmov %rdi, %rbp\nmov 16(%rbp), %rsp\npop %rbp\nret\n");
  EXPECT_TRUE(analysis_->switches_stacks) << "from a context that rbp holds";
  analyze_assembly(kPlainStart + "change: push %rbp\nmov %rdi, -8(%rsp)\nmov -8(%rsp), %rsp\npop %rbp\nret\n");
  EXPECT_TRUE(analysis_->switches_stacks) << "from a variable on the stack";
  const std::string bytes = ".type bytes,@object\nbytes: .byte 0x55, 0x48, 0x89, 0x27, 0x48, 0x8b, 0x26, 0x5d, 0xc3";
  analyze_assembly(kPlainStart + bytes + "\n.size bytes, .-bytes\n");
  EXPECT_TRUE(analysis_->switches_stacks) << "bytes";
  analyze_assembly(kPlainStart + bytes + ", 0x06\n.size bytes, .-bytes\n");
  EXPECT_FALSE(analysis_->switches_stacks) << "data";
  analyze_assembly(kPlainStart + "plain: push %rbp\nmov %rsp, %rbp\nleave\nret\n");
  EXPECT_FALSE(analysis_->switches_stacks);
}

// As nasm leaves the functions of video codecs: no sizes, and a symbol "f.label" for each label of f's.
TEST_F(MovabilityTest, AssemblyThatAlignsItsFrameStaysOnItsStack) {
  const std::string function = ".type wide,@function\nwide: ", align = "mov %rsp, %r13\nand $-64, %rsp\nsub $128, %rsp\n";
  const std::string end = "mov %r13, %rsp\nret\n", next = "next: mov (%rdi), %r13\n";
  const std::string pops = "push %rbp\nmov %rsp, %rax\nsub $4, %rsp\nand $-32, %rsp\nmov %rax, (%rsp)\nmov %rsp, %rbp\n";
  const std::string count = "mov %rsp, %rcx\nand $-16, %rsp\ncall wide.part\nmov %rcx, %rsp\nret\n";
  const std::string subtracts = "mov %rsp, %r11\nand $31, %r11\nadd $512, %r11\nsub %r11, %rsp\n"
                                "mov %r11, 96(%rsp)\nmov %r12, 104(%rsp)\n";
  const std::string save = "mov %rsp, %r10\nand $-64, %rsp\n";
  const std::pair<std::string, bool> bodies[] = {
      {align + "wide.loop: dec %esi\njg wide.loop\nwide.end: " + end, true},
      {align + "test %esi, %esi\nje wide.end\nvzeroupper\n" + end + "wide.end: " + end + next + "ret\n", true},
      // A second function behind a jump by a table, whose labels the first one's register means nothing to.
      {align + end + next + "next.end: " + end, false},
      // Another function's label, which is led to from there.
      {align + "test %esi, %esi\nje wide.end\nret\nwide.end: " + end + next + "jmp wide.end\n", false},
      // It saves the stack pointer where it loads it from, or it does not.
      {"mov %rsp, %rax\nand $-64, %rsp\nmov %rax, 64(%rsp)\njmp *%rcx\nwide.w8: mov 64(%rsp), %rsp\nret\n", true},
      {"mov %rsp, %rax\nand $-64, %rsp\nmov %rax, 64(%rsp)\nret\nnext: mov 64(%rsp), %rsp\nret\n", false},
      // A label that is called keeps what it doesn't write; functions keep what they must.
      {save + "call wide.part\nmov %r10, %rsp\nret\nwide.part: vmovaps %ymm0, %ymm2\nret\n", true},
      {save + "call wide.part\nmov %r10, %rsp\nret\nwide.part: dec %esi\nje 1f\nret\n1: mov (%rdi), %r10\nret\n", false},
      {save + "call wide.part\nmov %r10, %rsp\nret\nwide.part: jmp *%rcx\n", false},
      {save + "call next.part\nmov %r10, %rsp\nret\n" + next + "ret\nnext.part: dec %esi\njg next.part\nret\n", true},
      {save + "call start\nmov %r10, %rsp\nret\n", false},
      {count + "wide.part: lea (%rdi,%rsi,4), %rdi\nshr $2, %edx\npalignr $4, %xmm1, %xmm0\nret\n", true},
      {count + "wide.part: pcmpistri $12, %xmm1, %xmm0\nret\n", false},
      {count + "wide.part: div %esi\nrep movsb\nret\n", false},
      // A vector's register has the number of a pointer's.
      {align + "vpermt2d %zmm1, %zmm2, %zmm5\n..@12.end: " + end, true},
      {align + "pext %rdi, %rsi, %r13\n" + end, false},
      // It keeps the stack pointer where rbp leads.
      {pops + "sub $80, %rsp\nmov %rbp, %rsp\npop %rsp\npop %rbp\nret\n", true},
      {pops + "sub $80, %rsp\nmov %rdi, (%rbp)\nmov %rbp, %rsp\npop %rsp\npop %rbp\nret\n", false},
      {pops + "mov (%rdi), %rbp\nmov %rbp, %rsp\npop %rsp\npop %rbp\nret\n", false},
      {pops + "lea 8(%rbp), %rbp\nmov %rbp, %rsp\npop %rsp\npop %rbp\nret\n", false},
      {pops + "mov %rbp, %rsp\npop %rbp\npop %rsp\nret\n", false},
      {"push %rbp\nmov %rdi, (%rsp)\nmov %rsp, %rbp\nmov %rbp, %rsp\npop %rsp\nret\n", false},
      {"push %rdi\npop %rsp\nret\n", false},
      // It keeps how far it moved the stack pointer.
      {subtracts + "jbe ._done\nmov %rsp, %rdi\n._done: mov 96(%rsp), %r11\nmov 104(%rsp), %r12\nadd %r11, %rsp\nret\n", true},
      {subtracts + "mov 104(%rsp), %r11\nadd %r11, %rsp\nret\n", false},
      {subtracts + "mov %rdi, 96(%rsp)\nmov 96(%rsp), %r11\nadd %r11, %rsp\nret\n", false},
      {subtracts + "mov 96(%rsp), %r11\nmov (%rdi), %r11\nadd %r11, %rsp\nret\n", false},
      {subtracts + "mov 96(%rsp), %r11\npush %rdi\nadd %r11, %rsp\nret\n", false},
      {subtracts + "mov (%rdi), %r11\njbe ._done\nmov 96(%rsp), %r11\n._done: add %r11, %rsp\nret\n", false},
      {"mov %rdi, 96(%rsp)\nmov 96(%rsp), %r11\nadd %r11, %rsp\nret\n", false},
      {"add %rdi, %rsp\nret\n", false},
      // Labels without a parent may be functions.
      {align + "end: " + end, false},
      {align + "wider.end: " + end, false},
      // Where there are data among the code nothing is followed.
      {align + ".byte 0x06\nwide.end: " + end, false}};
  for (const auto& [body, stays] : bodies) {
    analyze_assembly(kPlainStart + function + body);
    EXPECT_EQ(analysis_->switches_stacks, !stays) << body;
  }
}

// A restartable sequence, a load that may fault: whoever finds a thread there looks its place up in a table.
TEST_F(MovabilityTest, PlacesInATableOfTheProgramsKeepTheirFunction) {
  const std::string body = "mov $1, %eax\n1: mov (%rdi), %eax\n2: ret\n.pushsection ";
  const auto with_table_in = [&](const std::string& section) {
    analyze_assembly(kPlainStart + assembly_function("loads", body + section + "\n.quad 1b, 2b\n.popsection"));
    return fate("loads");
  };
  EXPECT_EQ(with_table_in("__rseq_cs,\"aw\""), Immovable::kAssembly);
  EXPECT_EQ(with_table_in(".data.rel.ro,\"aw\""), Immovable::kNo) << "an array of labels";
  EXPECT_EQ(with_table_in(".data,\"aw\""), Immovable::kNo) << "an array of labels";
  EXPECT_EQ(with_table_in(".note.probes,\"\""), Immovable::kNo) << "not in memory";
}

TEST_F(MovabilityTest, APlaceThatAnotherFunctionTakesTheAddressOfKeepsItsFunction) {
  analyze_assembly(kPlainStart + assembly_function("loads", "mov $1, %eax\nmay_fault: mov (%rdi), %eax\nret") +
                   assembly_function("handles", "lea may_fault(%rip), %rax\nret"));
  EXPECT_EQ(fate("loads"), Immovable::kAssembly);
  EXPECT_EQ(fate("handles"), Immovable::kNo);
  analyze_assembly(kPlainStart + assembly_function("own", "lea 1f(%rip), %rax\njmp *%rax\n1: ret"));
  EXPECT_EQ(fate("own"), Immovable::kNo);
}

TEST_F(MovabilityTest, ABranchIntoAnInstructionMeansDataAmongTheCode) {
  analyze_assembly(kPlainStart + assembly_function("jumps", "jmp 1f\n.byte 0x48, 0x8b, 0x05\n1: addq $1, %rax\nret"));
  EXPECT_EQ(fate("jumps"), Immovable::kUndecodable);
}

// .section stab_funcs lists leaf, so that start is foreign.
TEST_F(MovabilityTest, OnlyListedFunctionsMoveWhereThereIsAList) {
  analyze_assembly(kPlainStart + assembly_function("leaf.cold", "mov $1, %eax\nret") +
                   ".section stab_funcs,\"a\"\n.long leaf - .\n.long 8\n");
  EXPECT_EQ(fate("start"), Immovable::kForeign);
  EXPECT_EQ(fate("leaf"), Immovable::kNo);
  EXPECT_EQ(fate("leaf.cold"), Immovable::kNo);
}

TEST_F(MovabilityTest, NothingMovesWithoutAListWhereOneIsExpected) {
  options_.only_listed = true;
  analyze_assembly(kPlainStart);
  EXPECT_EQ(fate("leaf"), Immovable::kForeign);
}

TEST_F(MovabilityTest, TheRuntimeStaysInProgramsOfAnyCompiler) {
  analyze_assembly(kPlainStart + assembly_function("stab_rt_active", "mov $1, %eax\nret") +
                   assembly_function("_ZN4stab5startEv", "mov $1, %eax\nret") +
                   assembly_function("malloc", "mov $1, %eax\nret") + assembly_function("_Znwm", "mov $1, %eax\nret"));
  EXPECT_EQ(fate("leaf"), Immovable::kNo);
  for (const char* name : {"stab_rt_active", "_ZN4stab5startEv"}) EXPECT_EQ(fate(name), Immovable::kRuntime) << name;
  EXPECT_EQ(fate("malloc"), Immovable::kNo) << "the program's own";
}

TEST_F(MovabilityTest, TheRuntimesArchiveNamesItsOtherFunctions) {
  const std::string object = scratch_ / "runtime.o", archive = scratch_ / "runtime.a";
  std::ofstream(scratch_ / "runtime.s") << assembly_function("malloc", "ret") << assembly_function("local_one", "ret")
                                        << ".globl malloc\n.data\n.globl a_variable\na_variable: .long 1\n";
  ASSERT_EQ(system((std::string(STAB_CLANG) + " -c " + (scratch_ / "runtime.s") + " -o " + object).c_str()), 0);
  ASSERT_EQ(system(("ar rcs " + archive + " " + object + " && ar rcs " + archive + " " + (scratch_ / "runtime.s")).c_str()), 0);
  options_.runtime_archives = {scratch_ / "missing.a", archive};
  const std::string program = kPlainStart + assembly_function("malloc", "mov $1, %eax\nret") +
                              assembly_function("local_one", "mov $1, %eax\nret");
  analyze_assembly(program);
  EXPECT_EQ(fate("malloc"), Immovable::kRuntime);
  EXPECT_EQ(fate("local_one"), Immovable::kRuntime);
  EXPECT_EQ(fate("leaf"), Immovable::kNo);
  analyze_assembly(program + ".section stab_funcs,\"a\"\n.long malloc - .\n.long 8\n");
  EXPECT_EQ(fate("malloc"), Immovable::kNo) << "our pass compiled it: the program's own";
}

}  // namespace
}  // namespace stab::postlink
