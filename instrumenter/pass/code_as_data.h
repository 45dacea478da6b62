// CodeAsData: finds the functions whose bytes the module reads or writes.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/PassManager.h>

namespace stab {

// What such a function carries then. It stays, and has no pad.
inline constexpr llvm::StringRef kCodeIsDataAttribute = "stab-code-is-data";
// What a function carries that may read code of other modules, too.
inline constexpr llvm::StringRef kReadsTextAttribute = "stab-reads-text";

struct CodeAsData : llvm::PassInfoMixin<CodeAsData> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
