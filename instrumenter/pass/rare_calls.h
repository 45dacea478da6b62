// Calls that a function hardly ever makes.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/IR/Instruction.h>

namespace stab {

// Drops from `calls`, which are listed in the order of their blocks, those that the compiler expects, all together, in
// few of their function's activations only.
void drop_rare_calls(const llvm::BlockFrequencyInfo& frequencies, llvm::SmallVectorImpl<llvm::Instruction*>& calls);

}  // namespace stab
