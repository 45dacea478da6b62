// Constant lists: what is in the constants that each function uses (stab_constants), by functions instead of names.
#pragma once

#include <cstdint>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/functions.h"

namespace stab::postlink {

// The content of stab_contents; empty: no object of the file has such lists.
// pre: functions are final
std::vector<uint8_t> encode_constant_lists(const ElfImage& image, const FunctionTable& functions);

}  // namespace stab::postlink
