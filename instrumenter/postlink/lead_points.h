// Long loops: where an activation that never returns can be led to the same place of another copy of its function while
// it runs (format: LoopRecord in runtime/code_abi.h; what the runtime does with it: runtime/code/long_loops.h).
#pragma once

#include <cstdint>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"
#include "instrumenter/postlink/jump_tables.h"
#include "runtime/code_abi.h"

namespace stab::postlink {

struct LongLoops {
  std::vector<abi::LoopRecord> records;  // ascending by function
  std::vector<uint32_t> points;
};

// Functions of other compilers have none: what holds for ours is not known of them. pre: movability is decided.
LongLoops find_long_loops(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
                          const std::vector<JumpTable>& tables);

}  // namespace stab::postlink
