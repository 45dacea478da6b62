// Pointers to functions: where a function's address is a value. A run with one layout can lead them all to the function's copy,
// so that a call through one costs what it costs in a plain run (code = "direct").
#pragma once

#include <cstdint>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"
#include "instrumenter/postlink/jump_tables.h"
#include "runtime/code_abi.h"

namespace stab::postlink {

struct Pointers {
  std::vector<abi::PointerSlot> slots;    // ascending by address
  std::vector<abi::PointerField> fields;  // ascending by function and place
};

// Two pointers to one function must stay equal. So a function's are led together, or none: it has none here if others can look
// its name up, if code that stays makes its address, or that runs before the pointers are led, or if its address is kept in a way
// that isn't a word of data. Nor if an address nearby is a value, as of a pointer with a mark in it: the program may come back
// from there.
// pre: movability is decided.
Pointers find_pointers(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
                       const std::vector<JumpTable>& tables);

}  // namespace stab::postlink
