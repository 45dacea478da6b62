#include "instrumenter/pass/large_code.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/CodeGen.h>

namespace stab {

bool keep_in_text(llvm::Module& module) {
  constexpr int kLastThatJoins = 19;
  if (LLVM_VERSION_MAJOR <= kLastThatJoins || module.getCodeModel() != llvm::CodeModel::Large) return false;
  bool some = false;
  for (llvm::Function& function : module) {
    if (function.isDeclarationForLinker() || function.hasSection()) continue;
    function.setSection((".text." + function.getName()).str());
    some = true;
  }
  return some;
}

}  // namespace stab
