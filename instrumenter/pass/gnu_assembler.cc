#include "instrumenter/pass/gnu_assembler.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace stab {

bool may_be_tied_to(const llvm::GlobalValue& symbol) {
  const auto is_plain = [](char letter) { return llvm::isAlnum(letter) || letter == '_' || letter == '.'; };
  if (llvm::all_of(symbol.getName(), is_plain)) return true;
  return llvm::none_of(*symbol.getParent(),
                       [](const llvm::Function& function) { return function.hasFnAttribute(kGnuAssemblerAttribute); });
}

}  // namespace stab
