// CodeView: reading stab_code back, checked.
#pragma once

#include <span>

#include "base/result.h"
#include "runtime/code_abi.h"

namespace stab::postlink {

// Invariant: every index range of every function and table lies inside the arrays, functions ascend and don't
// overlap, table targets lie inside their function, fix-ups inside their function and name existing targets,
// lead points lie inside their function, where a jump can be stored; no two identities are equal; pointers are of functions that
// move, and their fields inside such.
struct CodeView {
  abi::CodeHeader header;
  std::span<const abi::CodeFunction> functions;
  std::span<const abi::CodeTable> tables;
  std::span<const uint32_t> targets;
  std::span<const abi::DirectedFixup> directed;
  std::span<const uint16_t> fixed;
  std::span<const abi::LoopRecord> loops;  // empty where nothing is told
  std::span<const uint32_t> points;
  std::span<const uint64_t> identities;  // by function; empty in files from before there were any, and so are pads
  std::span<const uint32_t> pads;
  std::span<const abi::PointerSlot> pointer_slots;  // empty in files from before there were any, and so are fields
  std::span<const abi::PointerField> pointer_fields;

  // Views `section`, which must outlive it and be 8-byte aligned.
  static Result<CodeView> parse(std::span<const uint8_t> section);
};

}  // namespace stab::postlink
