// LLVM says that an object makes code on the stack by leaving .note.GNU-stack out. GNU ld makes the program's stack executable
// then, and lld doesn't look. The driver looks into objects, but where one command compiles and links, they don't exist yet when
// it asks. So they carry a mark that is linked with them.
#include "instrumenter/pass/stack_code.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

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
  auto* type = llvm::Type::getInt8Ty(module.getContext());
  auto* mark = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                        llvm::ConstantInt::get(type, 1), abi::kStackCodeSection);
  mark->setSection(abi::kStackCodeSection);
  llvm::appendToUsed(module, {mark});  // --gc-sections leaves it
  return llvm::PreservedAnalyses::none();
}

}  // namespace stab
