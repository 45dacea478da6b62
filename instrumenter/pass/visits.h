// Visits: a counted call at each entry of the functions that szc --stab-visit names. Layouts can then last so many of them,
// instead of a time (stab_visit in stab.h).
#pragma once

#include <llvm/IR/PassManager.h>

namespace stab {

// On every function of a module, as the driver has clang put it there: the names, with commas between them.
inline constexpr llvm::StringRef kVisitAttribute = "stab-visit";

struct Visits : llvm::PassInfoMixin<Visits> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace stab
