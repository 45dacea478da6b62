// The record of a thread's stack, in shared libraries.
#pragma once

#include "instrumenter/postlink/elf_image.h"

namespace stab::postlink {

// Leaves abi::kStackRecordSymbol to the program that loads the library: what defines it there is taken back, and what refers to a
// definition of the library's own is emptied. Without effect where the library has none.
// pre: image.is_shared_library()
void leave_record_to_program(ElfImage& image);

}  // namespace stab::postlink
