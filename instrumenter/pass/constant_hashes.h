// ConstantHashes: lists in section stab_constants what is in the strings, tables and other constants that each function uses.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

class ConstantHashes : public llvm::PassInfoMixin<ConstantHashes> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
