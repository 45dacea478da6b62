// ToldCalls: tells the runtime of calls of libc's that what it has mapped would stand in the way of.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

struct ToldCalls : llvm::PassInfoMixin<ToldCalls> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
