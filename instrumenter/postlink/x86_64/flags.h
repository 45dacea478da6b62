// Flags: whether a function may be entered with status flags that it uses.
#pragma once

#include <cstdint>
#include <span>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/functions.h"
#include "runtime/arch/x86_64/instruction.h"

namespace stab::postlink {

// Sets of status flags.
inline constexpr uint8_t kCarry = 1, kZero = 2, kSign = 4, kOverflow = 8, kParity = 16, kAllFlags = 31;

// What one instruction does with them. When in doubt `reads` has more than is true, and `writes` less.
struct FlagUse {
  uint8_t reads = 0;
  uint8_t writes = 0;  // and those that it leaves undefined
};

// `code` is where it was decoded from.
FlagUse flag_use(const arch::x86_64::Instruction& instruction, std::span<const uint8_t> code);

// Whether code may enter `function` by its first instruction with flags that are used there. The way into an image
// compares something, and flags come out different. Compilers pass nothing in flags; hand-written assembly may.
// pre: the function decodes
bool flags_alive_at_entry(const ElfImage& image, const FunctionTable& functions, const Function& function);

}  // namespace stab::postlink
