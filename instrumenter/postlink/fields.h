// Fields: what disassembling the text tells about each function: every reference that leaves it, and the facts
// that decide whether it can move.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/functions.h"

namespace stab::postlink {

enum class FieldKind : uint8_t {
  kCall,       // call rel32
  kJump,       // jmp or jcc rel32 that leaves the function
  kShortJump,  // an 8-bit jump that leaves the function
  kAddress,    // lea target(%rip): the address becomes a value
  kMemory,     // any other memory operand relative to rip
  kAbsolute,   // a 32-bit absolute address, as displacement or immediate
  kAbsolute64, // a 64-bit absolute address: movabs
};

struct Field {
  uint64_t place;   // address of the field
  uint64_t target;  // address it refers to
  FieldKind kind;
  bool indexes_words = false;  // kAbsolute: the displacement of disp32(,%reg,8)
  bool jumps = false;          // and that is where a jump takes its target from
  bool next_jumps = false;     // and the next instruction jumps to what is loaded from there

  bool pc_relative() const { return kind < FieldKind::kAbsolute && kind != FieldKind::kShortJump; }
};

struct FunctionCode {
  uint32_t first_field = 0;
  uint32_t field_count = 0;
  uint32_t indirect_jumps = 0;
  uint32_t indirect_calls = 0;
  uint8_t first_instruction_bytes = 0;
  bool decoded = false;              // every byte belongs to an instruction we know, and its branches lead to such
  bool fields_match_relocations = true;
  bool unresolvable = false;         // uses its own position in a way no fix-up can follow
  bool short_jump_leaves = false;
  bool branches_into_entry = false;  // a direct branch of its own to its bytes 1 to 4
  bool falls_off_its_end = false;
  bool ends_with_call = false;       // which may come back, if something of it follows
  bool loads_stack_from_elsewhere = false;
  bool loads_stack_from_register = false;
  bool loads_stack_from_frame = false;
  bool loads_stack_from_variable = false;
  bool loads_stack_from_frame_pointer = false;
  bool loads_frame_pointer_from_elsewhere = false;
  bool marks_stack_pointer = false;  // speculative load hardening
  bool makes_wide_address = false;   // of code, in 64 bits, as the large model makes its calls: no field tells whom it calls
};

struct Disassembly {
  std::vector<Field> fields;        // grouped by function, ascending by place
  std::vector<FunctionCode> codes;  // one for each function
  uint64_t text_start = 0;
  std::vector<bool> starts;         // by offset in the text: an instruction of a decoded function starts there

  std::span<const Field> fields_of(uint32_t function) const {
    return std::span(fields).subspan(codes[function].first_field, codes[function].field_count);
  }
  // pre: address in the text
  bool starts_instruction(uint64_t address) const { return starts[address - text_start]; }
};

// Functions that don't decode own no fields.
Disassembly disassemble(const ElfImage& image, const FunctionTable& functions);

}  // namespace stab::postlink
