// The problem: tools tell a program's functions and calls by addresses of code: what -finstrument-functions passes on,
// _Unwind_GetIP, backtrace. In moved code such an address lies in an image. So one call has another address in each layout, and
// no table of symbols knows it. The approach: what comes of such a question goes through the runtime, which gives the original.
//
// __builtin_return_address says where code really runs, which is what a program asks that wants to see its layout. Only in a
// module that -finstrument-functions made nothing tells the two apart.
//
// A routine that handles exceptions asks where it is, too, and says where to go on. It must know the copy, and a module that has
// one is left alone.
#include "instrumenter/pass/own_addresses.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "instrumenter/pass/resolvers.h"
#include "instrumenter/pass/runtime_calls.h"

namespace stab {
namespace {

// The runtime's: void* (void*) of one address, the same of one where a function begins, which is compared with pointers to
// functions, and void (void**, int) of an array.
constexpr llvm::StringRef kOriginalAddressSymbol = "stab_rt_original_address";
constexpr llvm::StringRef kOriginalFunctionSymbol = "stab_rt_original_function";
constexpr llvm::StringRef kOriginalAddressesSymbol = "stab_rt_original_addresses";

enum class Asks { kNothing, kAddress, kFunction, kArray };

// Whether it was compiled with -finstrument-functions, whose calls may be inlined by now.
bool is_profiled(const llvm::Module& module) {
  return module.getFunction("__cyg_profile_func_enter") != nullptr || module.getFunction("__cyg_profile_func_exit") != nullptr;
}

// What a function of the unwinder's or libc's gives back: an address, that of a function's beginning, or an array of addresses.
Asks asks_of(const llvm::CallBase& call) {
  if (call.getIntrinsicID() == llvm::Intrinsic::returnaddress)
    return is_profiled(*call.getModule()) ? Asks::kAddress : Asks::kNothing;
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration() || call.isMustTailCall()) return Asks::kNothing;
  const llvm::StringRef name = callee->getName();
  if (name == "backtrace")
    return call.arg_size() == 2 && call.getArgOperand(0)->getType()->isPointerTy() && call.getType()->isIntegerTy(32)
               ? Asks::kArray
               : Asks::kNothing;
  const bool is_word = call.getType()->isPointerTy() || call.getType()->isIntegerTy(64);
  if (!is_word) return Asks::kNothing;
  if (name == "_Unwind_GetIP" || name == "_Unwind_GetIPInfo") return Asks::kAddress;
  return name == "_Unwind_GetRegionStart" || name == "_Unwind_FindEnclosingFunction" ? Asks::kFunction : Asks::kNothing;
}

bool handles_exceptions(const llvm::Module& module) {
  const llvm::Function* sets = module.getFunction("_Unwind_SetIP");
  const llvm::Function* reads = module.getFunction("_Unwind_GetLanguageSpecificData");
  return (sets != nullptr && !sets->use_empty()) || (reads != nullptr && !reads->use_empty());
}

// Behind `call`: its address is what the runtime says.
void ask_for_address(llvm::CallBase& call, llvm::StringRef runtime_name) {
  llvm::Module& module = *call.getModule();
  auto* pointer = llvm::PointerType::getUnqual(module.getContext());
  llvm::Function* original = runtime_function(module, runtime_name, llvm::FunctionType::get(pointer, {pointer}, false));
  if (original == nullptr) return;
  llvm::SmallVector<llvm::Use*, 4> uses;
  for (llvm::Use& use : call.uses()) uses.push_back(&use);
  llvm::Instruction* const next = behind(call);
  llvm::Instruction* const then = if_there(original, next);
  llvm::IRBuilder<> build(then);
  build.SetCurrentDebugLocation(call.getDebugLoc());
  llvm::Value* const found =
      build.CreateBitOrPointerCast(build.CreateCall(original, {build.CreateBitOrPointerCast(&call, pointer)}), call.getType());
  build.SetInsertPoint(next->getParent(), next->getParent()->begin());
  llvm::PHINode* const either = build.CreatePHI(call.getType(), 2);
  for (llvm::Use* use : uses) use->set(either);
  for (llvm::BasicBlock* from : llvm::predecessors(next->getParent()))
    either->addIncoming(from == then->getParent() ? found : &call, from);
}

// Behind `call`: the runtime changes the array that the call has filled.
void ask_for_array(llvm::CallBase& call) {
  llvm::Module& module = *call.getModule();
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::getUnqual(context), llvm::Type::getInt32Ty(context)}, false);
  llvm::Function* originals = runtime_function(module, kOriginalAddressesSymbol, type);
  if (originals == nullptr) return;
  llvm::IRBuilder<> build(if_there(originals, behind(call)));
  build.SetCurrentDebugLocation(call.getDebugLoc());
  build.CreateCall(originals, {call.getArgOperand(0), &call});
}

}  // namespace

llvm::PreservedAnalyses OwnAddresses::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (module.getCodeModel() == llvm::CodeModel::Kernel || handles_exceptions(module)) return llvm::PreservedAnalyses::all();
  const auto early = reached_from_resolvers(module);
  llvm::SmallVector<llvm::CallBase*, 8> calls;
  for (llvm::Function& function : module) {
    if (!may_call_runtime(function) || early.contains(&function)) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call != nullptr && asks_of(*call) != Asks::kNothing)
        calls.push_back(call);
  }
  for (llvm::CallBase* call : calls) {
    if (auto* plain = llvm::dyn_cast<llvm::CallInst>(call)) plain->setTailCallKind(llvm::CallInst::TCK_None);  // more follows it
    switch (asks_of(*call)) {
      case Asks::kNothing: break;
      case Asks::kAddress: ask_for_address(*call, kOriginalAddressSymbol); break;
      case Asks::kFunction: ask_for_address(*call, kOriginalFunctionSymbol); break;
      case Asks::kArray: ask_for_array(*call); break;
    }
  }
  return calls.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace stab
