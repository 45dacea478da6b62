// Jump tables: arrays of code addresses in constant data that one function alone uses to jump inside itself.
#pragma once

#include <cstdint>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"
#include "instrumenter/postlink/references.h"
#include "runtime/code_abi.h"

namespace stab::postlink {

struct JumpTable {
  uint64_t address;
  uint32_t function;              // whose labels it holds
  abi::TableKind kind;
  std::vector<uint32_t> targets;  // offsets from the function's start, strictly inside it

  uint64_t entry_bytes() const { return kind == abi::TableKind::kAbsolute64 ? 8 : 4; }
  uint64_t end() const { return address + targets.size() * entry_bytes(); }
  bool contains(uint64_t at) const { return at >= address && at < end(); }
};

// Ascending by function, then by address; tables don't overlap.
std::vector<JumpTable> find_jump_tables(const ElfImage& image, const FunctionTable& functions,
                                        const Disassembly& disassembly, const References& references);

// Where arrays of distances lead that functions with indirect jumps refer to and that are none of `tables`, ascending: by one of
// those a jump may reach the original. (The relocation of such an entry names another place, as its addend grows along the
// array.)
std::vector<uint64_t> find_loose_labels(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
                                        const References& references, const std::vector<JumpTable>& tables);

}  // namespace stab::postlink
