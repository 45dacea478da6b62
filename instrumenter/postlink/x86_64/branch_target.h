// Where a branch or a direct call leads.
#pragma once

#include <cstdint>

#include "instrumenter/postlink/elf_image.h"
#include "runtime/arch/x86_64/instruction.h"

namespace stab::postlink {

// `bytes` are the instruction's, and `place` is where it lies. pre: branch.is_branch
inline uint64_t target_of(const arch::x86_64::Instruction& branch, const uint8_t* bytes, uint64_t place) {
  const uint8_t* field = bytes + branch.immediate_at;
  const int64_t distance = branch.immediate_bytes == 1 ? int64_t{read_as<int8_t>(field)} : int64_t{read_as<int32_t>(field)};
  return place + branch.length + static_cast<uint64_t>(distance);
}

}  // namespace stab::postlink
