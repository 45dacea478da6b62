// The stack of a program or library with code that is made on the stack.
#pragma once

#include "instrumenter/postlink/elf_image.h"

namespace stab::postlink {

// Makes it executable where an object that was linked has abi::kStackCodeSection. Without effect where the linker has done so, or
// the file doesn't say what its stack is to be.
void allow_code_on_stack(ElfImage& image);

}  // namespace stab::postlink
