// StacksInFrames: tells the runtime of each stack that the program has for a context, for signals or for a child.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

struct StacksInFrames : llvm::PassInfoMixin<StacksInFrames> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
