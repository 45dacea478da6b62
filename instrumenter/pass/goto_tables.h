// GotoTables: lists in section stab_gotos the computed-goto tables that may be copied with their function.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

class GotoTables : public llvm::PassInfoMixin<GotoTables> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
