// How long a function's activations are.
#pragma once

#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Function.h>

namespace stab {

// Whether the compiler expects an activation of the function, without what it calls, to take so few instructions that
// a pad would be much of them. recursive: its pad is 0, unless recursive functions are to be padded, too.
bool is_short(const llvm::Function& function, bool recursive, const llvm::BlockFrequencyInfo& frequencies,
              const llvm::TargetTransformInfo& costs);

}  // namespace stab
