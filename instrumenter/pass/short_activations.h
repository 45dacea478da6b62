// How long a function's activations are.
#pragma once

#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Function.h>

namespace stab {

// Whether the compiler expects an activation of the function, without what it calls, to take so few instructions that
// a pad would be much of them.
bool is_short(const llvm::Function& function, const llvm::BlockFrequencyInfo& frequencies,
              const llvm::TargetTransformInfo& costs);

}  // namespace stab
