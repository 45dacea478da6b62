// StackCode: marks modules that make code on the stack at run time, as flang does to pass an internal procedure as an argument.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

struct StackCode : llvm::PassInfoMixin<StackCode> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
