// The problem: a program may make its own text writable, which it can't where that text is shared memory. And it may lower its
// limit of address space, of which the heap has reserved more than most limits allow.
//
// The approach: the runtime is told before mprotect makes something writable (runtime/code/written_text.cc), and after setrlimit
// or prlimit has changed that limit (runtime/heap/lowered_limit.cc). Calls by a pointer or by a number (syscall) are not seen.
#include "instrumenter/pass/told_calls.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <optional>

#include "instrumenter/pass/resolvers.h"
#include "instrumenter/pass/runtime_calls.h"

namespace stab {
namespace {

// The runtime's: void (void* start, size_t bytes, int protection), and void ().
constexpr llvm::StringRef kProtectSymbol = "stab_rt_before_protect";
constexpr llvm::StringRef kLimitSymbol = "stab_rt_limit_changed";

std::optional<uint64_t> known_number(const llvm::Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  return number == nullptr ? std::optional<uint64_t>() : number->getZExtValue();
}

llvm::StringRef called_in_libc(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee != nullptr && callee->isDeclaration() && !call.isMustTailCall() ? callee->getName() : llvm::StringRef();
}

bool may_make_writable(const llvm::CallBase& call) {
  const llvm::StringRef name = called_in_libc(call);
  if ((name != "mprotect" && name != "pkey_mprotect") || call.arg_size() < 3) return false;
  if (!call.getArgOperand(0)->getType()->isPointerTy() || !call.getArgOperand(1)->getType()->isIntegerTy(64) ||
      !call.getArgOperand(2)->getType()->isIntegerTy(32))
    return false;
  const auto protection = known_number(call.getArgOperand(2));
  return !protection || (*protection & PROT_WRITE) != 0;
}

// Of what is returned from in one place. The limit's number is the first argument, and behind a process that of prlimit.
bool may_limit_addresses(const llvm::CallBase& call) {
  const llvm::StringRef name = called_in_libc(call);
  const bool is_set = name == "setrlimit" || name == "setrlimit64", is_other = name == "prlimit" || name == "prlimit64";
  const unsigned argument = is_other ? 1 : 0;
  if (!(is_set || is_other) || call.arg_size() <= argument || !llvm::isa<llvm::CallInst>(call)) return false;
  const auto limit = known_number(call.getArgOperand(argument));
  return !limit || *limit == RLIMIT_AS;
}

void call_runtime(llvm::StringRef name, llvm::CallBase& of, llvm::Instruction* place, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 3> types;
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Function* told =
      runtime_function(*of.getModule(), name, llvm::FunctionType::get(llvm::Type::getVoidTy(of.getContext()), types, false));
  if (told == nullptr) return;
  llvm::IRBuilder<> build(if_there(told, place));
  build.SetCurrentDebugLocation(of.getDebugLoc());
  build.CreateCall(told, arguments);
}

// What comes behind it, and behind locals.
llvm::Instruction* behind(llvm::CallBase& call) {
  llvm::cast<llvm::CallInst>(call).setTailCallKind(llvm::CallInst::TCK_None);
  llvm::Instruction* next = call.getNextNode();
  while (is_fixed_local(*next)) next = next->getNextNode();
  return next;
}

}  // namespace

llvm::PreservedAnalyses ToldCalls::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (module.getCodeModel() == llvm::CodeModel::Kernel) return llvm::PreservedAnalyses::all();
  const auto early = reached_from_resolvers(module);
  llvm::SmallVector<llvm::CallBase*, 4> writable, limits;
  for (llvm::Function& function : module) {
    if (!may_call_runtime(function) || early.contains(&function)) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      if (may_make_writable(*call)) writable.push_back(call);
      if (may_limit_addresses(*call)) limits.push_back(call);
    }
  }
  for (llvm::CallBase* call : writable)
    call_runtime(kProtectSymbol, *call, call, {call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)});
  for (llvm::CallBase* call : limits) call_runtime(kLimitSymbol, *call, behind(*call), {});
  return writable.empty() && limits.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace stab
