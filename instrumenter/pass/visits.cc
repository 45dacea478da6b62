// The problem: a program whose source is not to be changed has no call of stab_visit. The approach: one at each entry of a named
// function, put there before anything is optimized, so that a function that is inlined takes its visit along and is counted all
// the same. The runtime's function is a weak symbol, since a library may run in a program without our runtime.
#include "instrumenter/pass/visits.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace stab {
namespace {

constexpr llvm::StringRef kVisit = "stab_rt_layout_visit";

bool is_named(const llvm::Function& function) {
  llvm::SmallVector<llvm::StringRef, 4> names;
  function.getFnAttribute(kVisitAttribute).getValueAsString().split(names, ',', -1, /*KeepEmpty=*/false);
  return llvm::is_contained(names, function.getName());
}

void visit_at_entry(llvm::Function& function) {
  llvm::Module& module = *function.getParent();
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(module.getContext()), false);
  auto* visit = llvm::cast<llvm::Function>(module.getOrInsertFunction(kVisit, type).getCallee());
  visit->setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
  // Behind the variables of the frame, which stay where the optimizer looks for them.
  llvm::Instruction* first = &*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  llvm::IRBuilder<> build(first);
  llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(build.CreateIsNotNull(visit), first, /*Unreachable=*/false);
  build.SetInsertPoint(then);
  // A call without a place in a function that has debugging information is refused where it may be inlined.
  if (llvm::DISubprogram* subprogram = function.getSubprogram())
    build.SetCurrentDebugLocation(llvm::DILocation::get(module.getContext(), subprogram->getLine(), 0, subprogram));
  build.CreateCall(type, visit);
}

}  // namespace

llvm::PreservedAnalyses Visits::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::SmallVector<llvm::Function*, 4> named;
  for (llvm::Function& function : module) {
    if (!function.hasFnAttribute(kVisitAttribute)) continue;
    if (!function.isDeclaration() && is_named(function)) named.push_back(&function);
    function.removeFnAttr(kVisitAttribute);  // link-time optimization starts anew, and would count twice
  }
  for (llvm::Function* function : named) visit_at_entry(*function);
  return named.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace stab
