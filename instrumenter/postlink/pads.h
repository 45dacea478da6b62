// Pads: the slots of section stab_pads that belong to recursive functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"

namespace stab::postlink {

// File offsets of the u32 slots to mark with abi::kPadRecursive, ascending.
std::vector<uint64_t> recursive_pads(const ElfImage& image, const FunctionTable& functions,
                                     const Disassembly& disassembly, const std::vector<bool>& recursive);

// Those of all slots, to mark with abi::kPadHeld.
std::vector<uint64_t> all_pads(const ElfImage& image);

// Why all slots are marked with it, to follow "as"; empty: they are not.
std::string why_pads_are_held(const ElfImage& image);

}  // namespace stab::postlink
