#include "instrumenter/pass/section_mark.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace stab {

void mark_object(llvm::Module& module, const char* section) {
  auto* type = llvm::Type::getInt8Ty(module.getContext());
  auto* mark = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                        llvm::ConstantInt::get(type, 1), section);
  mark->setSection(section);
  llvm::appendToUsed(module, {mark});  // --gc-sections leaves it
}

}  // namespace stab
