// Calls that a function hardly ever makes.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>

namespace stab {

// Drops from `calls`, which are listed in the order of their blocks, those that the compiler expects, all together, in
// few of the function's activations only.
void drop_rare_calls(llvm::Function& function, llvm::SmallVectorImpl<llvm::Instruction*>& calls);

}  // namespace stab
