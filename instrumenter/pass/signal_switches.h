// SignalSwitches: marks an object with a signal handler that lets the interrupted thread go on with another stack pointer.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

class SignalSwitches : public llvm::PassInfoMixin<SignalSwitches> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
