// Addresses of code that a program asks for itself.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

// Gives the program the original of each such address that may lie in an image.
struct OwnAddresses : llvm::PassInfoMixin<OwnAddresses> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
