// JumpSwitches: marks an object that goes from one activation to another and back by setjmp and longjmp alone, as coroutines do.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

class JumpSwitches : public llvm::PassInfoMixin<JumpSwitches> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
