// LLVM says that an object makes code on the stack by leaving .note.GNU-stack out. GNU ld makes the program's stack executable
// then, and lld doesn't look. The driver looks into objects, but where one command compiles and links, they don't exist yet when
// it asks. So they carry a mark that is linked with them.
#include "instrumenter/pass/stack_code.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "instrumenter/pass/section_mark.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

bool makes_code(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.getIntrinsicID() == llvm::Intrinsic::init_trampoline && !function.use_empty()) return true;
  return false;
}

}  // namespace

llvm::PreservedAnalyses StackCode::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!makes_code(module)) return llvm::PreservedAnalyses::all();
  mark_object(module, abi::kStackCodeSection);
  return llvm::PreservedAnalyses::none();
}

}  // namespace stab
