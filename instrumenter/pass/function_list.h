// FunctionList: lists every function of a module in section stab_funcs, so that the post-link step can tell
// what our compilers made from what came from elsewhere.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

class FunctionList : public llvm::PassInfoMixin<FunctionList> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
