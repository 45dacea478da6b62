// The problem: a function's place decides its speed on some machines, and a linker can order and align sections, not give one a
// remainder. The approach: LLVM emits prefix data between the alignment and the entry, so an aligned function with 16 bytes of it
// starts at 16. The bytes are int3, as the linker puts between functions, and never executed.
#include "instrumenter/pass/places.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstdlib>

#include "instrumenter/pass/places_variable.h"

namespace stab {
namespace {

constexpr uint8_t kInt3 = 0xcc;

void place(llvm::Function& function, unsigned modulus, unsigned remainder) {
  if (function.isDeclaration() || function.hasAvailableExternallyLinkage() || function.hasPrefixData()) return;
  function.setAlignment(std::max(function.getAlign().valueOrOne(), llvm::Align(modulus)));
  if (remainder == 0) return;
  const llvm::SmallVector<uint8_t, 64> bytes(remainder, kInt3);
  function.setPrefixData(llvm::ConstantDataArray::get(function.getContext(), bytes));
}

// The function that the linker knows by this name: itself, the one that the name is an alias of (a complete constructor is one of
// the base object's), or one whose name in the source is another, by an asm label.
llvm::Function* function_named(llvm::Module& module, llvm::StringRef name) {
  llvm::GlobalValue* value = module.getNamedValue(name);
  if (value == nullptr) value = module.getNamedValue(("\1" + name).str());
  if (auto* alias = llvm::dyn_cast_or_null<llvm::GlobalAlias>(value))
    return llvm::dyn_cast<llvm::Function>(alias->getAliasee()->stripPointerCastsAndAliases());
  return llvm::dyn_cast_or_null<llvm::Function>(value);
}

}  // namespace

llvm::PreservedAnalyses Places::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  const char* text = getenv(kPlacesVariable);
  if (text == nullptr) return llvm::PreservedAnalyses::all();
  llvm::SmallVector<llvm::StringRef, 16> lines;
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef, 3> words;
    line.split(words, ' ');
    unsigned modulus = 0, remainder = 0;
    if (words.size() != 3 || words[1].getAsInteger(10, modulus) || words[2].getAsInteger(10, remainder)) continue;
    if (modulus > 4096 || !llvm::isPowerOf2_32(modulus) || remainder >= modulus) continue;
    if (llvm::Function* function = function_named(module, words[0])) place(*function, modulus, remainder);
  }
  return llvm::PreservedAnalyses::all();  // neither is seen by analyses
}

}  // namespace stab
