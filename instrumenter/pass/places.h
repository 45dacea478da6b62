// Places: functions that a layout file names start where it wants them.
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

// Aligns each named function by its modulus and puts `remainder` bytes in front of its entry, into its own section: so its
// address has that remainder wherever a linker puts the section. A function that has something in front of it already stays as
// it is; stab-postlink looks at what came out.
struct Places : llvm::PassInfoMixin<Places> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

}  // namespace stab
