// The metadata against the program: images built from it are decoded again, and every reference in them must
// mean what it meant in the original. This is the check that a dropped or misplaced fix-up can't pass.
#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/arch/x86_64/instruction.h"
#include "runtime/code/image.h"
#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;

constexpr uint64_t kSlot = 0x10000000;  // where the images pretend to run, within 2 GiB of the text

class MovedImageTest : public AssembledTest {
 protected:
  // Builds images of the analysed program and compares each moved function with its original.
  void verify(int images) {
    const std::vector<uint8_t> section = metadata();
    std::vector<uint64_t> aligned((section.size() + 7) / 8);
    memcpy(aligned.data(), section.data(), section.size());
    ASSERT_EQ(code::read_metadata(aligned.data(), section.size(), code_), code::MetadataFault::kNone);
    std::vector<uint64_t> memory(code::scratch_bytes(code_) / 8 + 1);
    scratch_memory_ = code::bind_scratch(code_, memory.data());
    for (uint64_t seed = 0; seed < static_cast<uint64_t>(images); ++seed) {
      LayoutRng random(seed, 1, 1);
      out_.assign(code::slot_bytes(code_), 0);
      const code::ImagePlace place{.slot = kSlot, .executed = kSlot - 64, .text = image_->text_start(), .bias = 0};
      code::build_image(code_, image_->text().data(), place, abi::CodeMode::kShuffle, random, scratch_memory_,
                        out_.data());
      for (uint32_t i = 0; i < analysis_->functions.size(); ++i)
        if (analysis_->functions[i].immovable == abi::Immovable::kNo) compare_function(i);
    }
  }

  int references_ = 0, calls_to_copies_ = 0, tables_seen_ = 0;

 private:
  void compare_function(uint32_t index) {
    const Function& function = analysis_->functions[index];
    const uint64_t copy = kSlot + scratch_memory_.body[index];
    const auto original = image_->text_at(function.start, function.bytes);
    const std::span<const uint8_t> moved(out_.data() + scratch_memory_.body[index], function.bytes);
    Instruction instruction;
    for (size_t at = 0; at < original.size(); at += instruction.length) {
      ASSERT_TRUE(decode(original.subspan(at), instruction)) << function.name << "+" << at;
      Instruction twin;
      ASSERT_TRUE(decode(moved.subspan(at), twin));
      ASSERT_EQ(twin.length, instruction.length);
      const uint64_t next = at + instruction.length;
      std::optional<uint8_t> field;
      if (instruction.is_branch && instruction.immediate_bytes == 4) field = instruction.immediate_at;
      if (instruction.rip_relative) field = instruction.displacement_at;
      for (size_t i = 0; i < instruction.length; ++i) {
        const bool in_field = (field && i >= *field && i < size_t{*field} + 4) || is_absolute(function, at, i);
        ASSERT_TRUE(in_field || original[at + i] == moved[at + i]) << function.name << "+" << at;
      }
      if (field) {
        const uint64_t before = target_of(original, at + *field, function.start + next);
        const uint64_t after = target_of(moved, at + *field, copy + next);
        ASSERT_EQ(original_of(after, index), before) << function.name << "+" << at;
        check_policy(instruction, function, before, after);
      }
    }
    compare_tables(index, copy);
  }

  // A byte of a 32-bit absolute address of one of its tables.
  bool is_absolute(const Function& function, size_t at, size_t i) const {
    for (const Field& field : analysis_->disassembly.fields_of(static_cast<uint32_t>(&function - &analysis_->functions[0])))
      if (field.kind == FieldKind::kAbsolute && function.start + at + i >= field.place &&
          function.start + at + i < field.place + 4)
        return true;
    return false;
  }

  static uint64_t target_of(std::span<const uint8_t> bytes, size_t at, uint64_t next) {
    return next + static_cast<uint64_t>(int64_t{read_as<int32_t>(bytes.data() + at)});
  }

  // The original address of one inside the image.
  uint64_t original_of(uint64_t address, uint32_t owner) const {
    if (address < kSlot || address >= kSlot + out_.size()) return address;
    const auto at = static_cast<uint32_t>(address - kSlot);
    for (uint32_t t = code_.functions[owner].first_table;
         t < code_.functions[owner].first_table + code_.functions[owner].table_count; ++t) {
      const abi::CodeTable& table = code_.tables[t];
      const uint32_t bytes = table.entry_count * (table.kind == abi::TableKind::kRelative32 ? 4 : 8);
      if (at >= scratch_memory_.table[t] && at < scratch_memory_.table[t] + bytes)
        return table.address + (at - scratch_memory_.table[t]);
    }
    if (at >= scratch_memory_.body[owner] && at < scratch_memory_.body[owner] + code_.functions[owner].bytes)
      return analysis_->functions[owner].start + (at - scratch_memory_.body[owner]);
    for (uint32_t i = 0; i < analysis_->functions.size(); ++i)
      if (scratch_memory_.entry[i] == at && at != 0) return analysis_->functions[i].start;
    return 0;
  }

  // What may differ and what must: calls of moving functions go to copies, addresses as values never move.
  void check_policy(const Instruction& instruction, const Function& function, uint64_t before, uint64_t after) {
    ++references_;
    const auto callee = analysis_->functions.starting_at(before);
    const bool leaves = !function.contains(before) || (instruction.is_call() && before == function.start);
    if (instruction.is_branch && leaves && callee &&
        analysis_->functions[*callee].immovable == abi::Immovable::kNo) {
      EXPECT_NE(after, before) << function.name;
      ++calls_to_copies_;
    }
    const bool stays_inside = instruction.is_branch && function.contains(before) && !leaves;
    EXPECT_TRUE(!stays_inside || after != before) << function.name;
    const bool takes_address = instruction.rip_relative && image_->in_text(before);
    EXPECT_TRUE(!takes_address || after == before) << function.name;
  }

  void compare_tables(uint32_t index, uint64_t copy) {
    const abi::CodeFunction& function = code_.functions[index];
    for (uint32_t t = function.first_table; t < function.first_table + function.table_count; ++t) {
      const abi::CodeTable& table = code_.tables[t];
      ++tables_seen_;
      for (uint32_t i = 0; i < table.entry_count; ++i) {
        const uint8_t* entry = out_.data() + scratch_memory_.table[t];
        const uint64_t target =
            table.kind == abi::TableKind::kAbsolute64
                ? read_as<uint64_t>(entry + i * 8)
                : kSlot + scratch_memory_.table[t] + static_cast<uint64_t>(int64_t{read_as<int32_t>(entry + i * 4)});
        EXPECT_EQ(target, copy + code_.targets[table.first_target + i]);
      }
    }
  }

  code::Metadata code_;
  code::ImageScratch scratch_memory_;
  std::vector<uint8_t> out_;
};

TEST_F(MovedImageTest, EveryKindOfFieldKeepsItsMeaning) {
  analyze_assembly(
      assembly_function("start",
                        "call leaf\njmp leaf\njne leaf\nlea leaf(%rip), %rax\nlea own(%rip), %rcx\nmov data(%rip), %edx\n"
                        "cmpl $1, data(%rip)\ncall start\nown: jmp 1f\n.skip 200, 0x90\n1: jne own\nret") +
      assembly_function("leaf", "push %rax\ncall *slot(%rip)\npop %rax\nret") +
      ".data\ndata: .long 1\n.p2align 3\nslot: .quad leaf\n.text\n");
  ASSERT_NO_FATAL_FAILURE(verify(5));
  EXPECT_EQ(calls_to_copies_, 5 * 4);
}

TEST_F(MovedImageTest, FieldsFarApartUseSkips) {
  analyze_assembly(assembly_function("start", "mov data(%rip), %edx\n.skip 200000, 0x90\nmov data(%rip), %ecx\n"
                                              "lea data(%rip), %rax\nret") +
                   ".data\ndata: .long 1\n.text\n");
  ASSERT_NO_FATAL_FAILURE(verify(2));
  EXPECT_EQ(references_, 2 * 3);
}

// A program with everything compilers make of switches, strings, calls and data, as clang compiles it.
constexpr char kProgram[] = R"(
#include <stdarg.h>
int printf(const char*, ...); int rand(void); void* malloc(unsigned long);
static int counts[16]; const char* const names[] = {"a", "b", "c", "d"};
__attribute__((noinline)) static int pick(int x, int y) {
  switch (x) { case 0: return y * 3 + rand(); case 1: counts[y & 15] += 2; return 5; case 2: return y / (y + 1);
    case 3: return rand(); case 4: return y ^ 3; case 5: return counts[3] * y; case 6: return printf(names[y & 3]);
    case 8: return pick(x - 1, y); case 9: return pick(y, x) + 1; } return 0; }
typedef int F(int, int);
__attribute__((noinline)) static F* choose(int n) { static F* const all[] = {pick, 0}; return n ? all[0] : pick; }
__attribute__((noinline)) static double mean(int n, ...) { va_list l; va_start(l, n); double s = 0;
  for (int i = 0; i < n; ++i) s += va_arg(l, double); va_end(l); return s / n + 0.5; }
int main(int c, char** v) {
  static void* const labels[] = {&&one, &&two, &&three};
  char* p = malloc(c); int sum = 0;
  goto *labels[c % 3];
one: sum += choose(c)(c, 2); two: sum += pick(c, sum); three: printf("%s %d %f %p\n", v[0], sum, mean(2, 1.0, 2.0), p);
  if (sum < 100) goto *labels[sum % 3];
  return sum;
}
)";

class CompiledImageTest : public MovedImageTest, public testing::WithParamInterface<const char*> {};

TEST_P(CompiledImageTest, KeepsItsMeaning) {
  std::ofstream(scratch_ / "program.c") << kProgram;
  const std::string program = scratch_ / "program";
  const std::string command = STAB_CLANG " -w -ffunction-sections -falign-functions=16 -fuse-ld=lld -Wl,--emit-relocs " +
                              std::string(GetParam()) + " " + (scratch_ / "program.c") + " -o " + program;
  ASSERT_EQ(system(command.c_str()), 0);
  ASSERT_NO_FATAL_FAILURE(analyze_file(program));
  ASSERT_NO_FATAL_FAILURE(verify(3));
  EXPECT_GE(calls_to_copies_, 3 * 3);
  // Unoptimized code loads a target from an absolute table and then jumps: too little proof without our pass's list.
  const bool loads_targets = std::string(GetParam()) == "-O0 -fno-pie -no-pie";
  EXPECT_GE(tables_seen_, loads_targets ? 0 : 3);
}

INSTANTIATE_TEST_SUITE_P(Options, CompiledImageTest,
                         testing::Values("-O2 -fPIE -pie", "-O0 -fPIE -pie", "-O2 -fno-pie -no-pie",
                                         "-O0 -fno-pie -no-pie", "-Os -fcf-protection -fno-plt"));

}  // namespace
}  // namespace stab::postlink
