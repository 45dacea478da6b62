// StackCopies: marks an object whose code measures the stack in order to copy it, as interpreters do for continuations.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace stab {

// Whether the function subtracts the address of a variable of its own and one from elsewhere, for more than a comparison.
bool measures_stack(const llvm::Function& function);

class StackCopies : public llvm::PassInfoMixin<StackCopies> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
