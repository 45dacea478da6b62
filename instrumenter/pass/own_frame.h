// Functions that a pad would break.
#pragma once

#include <llvm/IR/Function.h>

namespace stab {

// Whether the function works only in the frame that it has without a pad. `vector_bytes`: see stack_arguments.h.
bool needs_own_frame(const llvm::Function& function, unsigned vector_bytes);

}  // namespace stab
