// Strays: code that no sized function holds. It is assembly without .type or .size, such as nasm makes, instructions that were
// written as a constant array in the text, and code whose symbols were left out.
#pragma once

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"

namespace stab::postlink {

// Whether such code may go to another stack.
bool strays_switch_stacks(const ElfImage& image, const Disassembly& disassembly, const FunctionTable& functions);

}  // namespace stab::postlink
