// The problem: an executable holds functions of our compilers beside start files and static archives that we
// know nothing about, and only the former are safe to move. The approach: !pcsections metadata on each defined
// function makes LLVM emit its address and size into stab_funcs, in a section that is tied to the function's own
// and goes where that goes (comdat, --gc-sections).
#include "instrumenter/pass/function_list.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "runtime/stab_abi.h"

namespace stab {

llvm::PreservedAnalyses FunctionList::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::MDNode* listed = llvm::MDBuilder(module.getContext()).createPCSections({{abi::kFunctionsSection, {}}});
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (function.hasAvailableExternallyLinkage()) continue;  // emitted by another module, listed there
    // It compares each return address with the one that the original would have, so no copy of it runs.
    if (function.hasFnAttribute(llvm::Attribute::SpeculativeLoadHardening)) continue;
    function.setMetadata(llvm::LLVMContext::MD_pcsections, listed);
  }
  return llvm::PreservedAnalyses::all();  // metadata only
}

}  // namespace stab
