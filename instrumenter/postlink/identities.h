// Identities: which function of one build of a program is which of another.
#pragma once

#include <cstdint>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"

namespace stab::postlink {

// Both by function. invariant: no identity twice
struct Identities {
  std::vector<uint64_t> of;
  std::vector<uint32_t> pads;  // the slot of stab_pads that it reads, or abi::kNoPad
};

// pre: functions and fields are final.
Identities find_identities(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly);

}  // namespace stab::postlink
