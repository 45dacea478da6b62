// Which of a call's arguments may lie on the stack.
#pragma once

#include <llvm/IR/InstrTypes.h>

namespace stab {

struct StackArguments {
  bool any = false;
  bool overaligned = false;  // one of them needs more than the 16 bytes to which the stack pointer is always aligned
};

// An estimate on the safe side: what it says is in registers is there. `vector_bytes` is the size of the widest vector register
// that the calling function may use, 0 if it may use none.
StackArguments stack_arguments(const llvm::CallBase& call, unsigned vector_bytes);

}  // namespace stab
