// Identities: which function of one build of a program is which of another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

// The name without what compilers and linkers add to tell namesakes apart: hashes of modules and numbers, which another build
// of the same source may not repeat ("f.llvm.1234" and "f.17" are f; "f.cold.1" and "f.part.0" are other functions than f).
std::string lasting_name(std::string_view name);

}  // namespace stab::postlink
