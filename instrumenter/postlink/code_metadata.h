// The content of section stab_code (format: runtime/code_abi.h).
#pragma once

#include <cstdint>
#include <vector>

#include "instrumenter/postlink/callees.h"
#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"
#include "instrumenter/postlink/jump_tables.h"
#include "instrumenter/postlink/lead_points.h"

namespace stab::postlink {

// pre: movability is decided.
std::vector<uint8_t> encode_code_metadata(const ElfImage& image, const FunctionTable& functions,
                                          const Disassembly& disassembly,
                                          const std::vector<JumpTable>& tables, bool stacks_are_switched,
                                          bool is_walked, const LongLoops& loops = {});

}  // namespace stab::postlink
