// What inline assembly asks of the function that it stands in.
#pragma once

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstrTypes.h>

namespace stab {

// The call's assembly; null if it calls something else.
const llvm::InlineAsm* assembly_of(const llvm::CallBase& call);

// Whether it can do without the frame pointer (rbp) and the base pointer (rbx): it doesn't name them, and there are enough
// other registers.
bool spares_frame_registers(const llvm::CallBase& call);

// Whether it may leave the stack pointer elsewhere than it found it, or use what lies there: it names it, pushes or pops.
bool uses_stack_pointer(const llvm::CallBase& call);

// Whether the call is assembly that may lead to another stack: it names the stack pointer, for more than to copy it, or has a
// variable for it. Pushes and pops don't, nor do pads.
bool may_load_stack_pointer(const llvm::CallBase& call);

}  // namespace stab
