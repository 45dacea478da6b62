#include "instrumenter/pass/runtime_calls.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "instrumenter/pass/stack_pads.h"

namespace stab {

bool may_call_runtime(const llvm::Function& function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() && !function.hasFnAttribute(kNoPadAttribute) &&
         !function.hasFnAttribute("no_caller_saved_registers") && function.getCallingConv() != llvm::CallingConv::X86_INTR &&
         !function.hasFnAttribute(llvm::Attribute::Naked);
}

llvm::Function* runtime_function(llvm::Module& module, llvm::StringRef name, llvm::FunctionType* type) {
  auto* function = llvm::dyn_cast<llvm::Function>(module.getOrInsertFunction(name, type).getCallee());
  if (function == nullptr || !function->isDeclaration() || function->getFunctionType() != type) return nullptr;
  function->setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

bool is_fixed_local(const llvm::Instruction& instruction) {
  const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
  return local != nullptr && local->isStaticAlloca();
}

llvm::Instruction* behind(llvm::CallBase& call) {
  if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call)) {
    llvm::SplitEdge(invoke->getParent(), invoke->getNormalDest());
    return invoke->getNormalDest()->getTerminator();
  }
  llvm::cast<llvm::CallInst>(call).setTailCallKind(llvm::CallInst::TCK_None);
  llvm::Instruction* next = call.getNextNode();
  while (is_fixed_local(*next)) next = next->getNextNode();
  return next;
}

llvm::Instruction* if_there(llvm::Function* asked, llvm::Instruction* place) {
  llvm::BasicBlock* const entry = &place->getFunction()->getEntryBlock();
  if (place->getParent() == entry)  // locals are fixed as long as they are in the entry block
    for (llvm::Instruction& below : llvm::make_early_inc_range(llvm::make_range(place->getIterator(), entry->end())))
      if (is_fixed_local(below)) below.moveBefore(*entry, entry->begin());
  llvm::IRBuilder<> build(place);
  return llvm::SplitBlockAndInsertIfThen(build.CreateIsNotNull(asked), place->getIterator(), /*Unreachable=*/false);
}

}  // namespace stab
