// The problem: a stack for makecontext, sigaltstack or clone may be an array in a function's frame, as in makecontext's manual
// page. It lies within the thread's own stack. So code that runs on it would take pads, and such a stack has no room for them.
//
// The approach: before the program calls one of the three, it hands what it calls it with to the runtime, which takes pads below
// the array alone from then on (runtime/stack/stacks_in_frames.cc). sigaltstack has an error for what can't be read. So only a
// local's or variable's address is handed on; of any other the runtime asks the kernel afterwards. Most such arrays are main's,
// and assembly may switch to one, too. So where main has an array, pads are taken below main's frame alone; so it is with each
// function of a module that has assembly which loads the stack pointer. Arrays of other modules are seen where that assembly is
// C's and gets a stack's end.
//
// A file of assembly may switch to an array of any module. An object is marked that gives an array of a function's away, in a
// variable or to a function. In a program with such assembly post-link keeps all pads at 0 then.
#include "instrumenter/pass/stacks_in_frames.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <iterator>

#include "instrumenter/pass/inline_assembly.h"
#include "instrumenter/pass/resolvers.h"
#include "instrumenter/pass/runtime_calls.h"
#include "instrumenter/pass/section_mark.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

// What gets a stack, the runtime's function that is told of it, void (void*), and which argument it is told: a ucontext_t, a
// stack_t, a stack's end.
struct Taker {
  llvm::StringRef name;
  llvm::StringRef told;
  unsigned argument;
};
constexpr Taker kTakers[] = {{"makecontext", "stab_rt_context_stack", 0},
                             {"sigaltstack", "stab_rt_signal_stack", 0},
                             {"clone", "stab_rt_clone_stack", 1},
                             {"__clone", "stab_rt_clone_stack", 1}};

// void (): a signal's stack has been set.
constexpr llvm::StringRef kSignalStackSetSymbol = "stab_rt_signal_stack_set";
// void (): it takes pads below its caller's frame alone.
constexpr llvm::StringRef kFrameSymbol = "stab_rt_frame_of_stacks";
constexpr uint64_t kSmallestStackBits = uint64_t{1024} * 8;

bool is_array(const llvm::Instruction& instruction) {
  if (!is_fixed_local(instruction)) return false;
  const llvm::DataLayout& sizes = instruction.getModule()->getDataLayout();
  const auto bits = llvm::cast<llvm::AllocaInst>(instruction).getAllocationSizeInBits(sizes);
  return bits && !bits->isScalable() && bits->getFixedValue() >= kSmallestStackBits;
}

bool has_array(const llvm::Function& function) {
  return may_call_runtime(function) && llvm::any_of(function.getEntryBlock(), is_array);
}

// Whether an address in it is kept in memory, made a number, or passed to a function that isn't known to keep no stack there.
bool is_given_away(const llvm::Value& address, const llvm::TargetLibraryInfoImpl& libc,
                   llvm::SmallPtrSetImpl<const llvm::Value*>& seen) {
  if (!seen.insert(&address).second) return false;
  return llvm::any_of(address.uses(), [&](const llvm::Use& use) {
    const llvm::User* const user = use.getUser();
    if (llvm::isa<llvm::StoreInst>(user)) return use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex();
    if (llvm::isa<llvm::PtrToIntInst>(user)) return true;
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
      const llvm::Function* const callee = call->getCalledFunction();
      llvm::LibFunc known;
      return !llvm::isa<llvm::IntrinsicInst>(call) && (callee == nullptr || !libc.getLibFunc(callee->getName(), known));
    }
    const bool leads_on = llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst>(user);
    return leads_on && is_given_away(*user, libc, seen);
  });
}

bool gives_array_away(const llvm::Function& function, const llvm::TargetLibraryInfoImpl& libc) {
  if (!may_call_runtime(function)) return false;
  return llvm::any_of(function.getEntryBlock(), [&libc](const llvm::Instruction& instruction) {
    llvm::SmallPtrSet<const llvm::Value*, 8> seen;
    return is_array(instruction) && is_given_away(instruction, libc, seen);
  });
}

// Whether assembly of the module may lead to another stack.
bool loads_stack_pointer(const llvm::Module& module) {
  if (llvm::StringRef(module.getModuleInlineAsm()).contains("%rsp")) return true;
  return llvm::any_of(module, [](const llvm::Function& function) {
    return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      return call != nullptr && may_load_stack_pointer(*call);
    });
  });
}

// At the beginning, before the function takes its pad.
void tell_of_frame(llvm::Function& function) {
  llvm::Module& module = *function.getParent();
  llvm::Function* told =
      runtime_function(module, kFrameSymbol, llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false));
  if (told == nullptr) return;
  llvm::Instruction* first = &function.getEntryBlock().front();
  while (is_fixed_local(*first)) first = first->getNextNode();
  llvm::IRBuilder<> build(if_there(told, first));
  if (llvm::DISubprogram* place = function.getSubprogram())
    build.SetCurrentDebugLocation(llvm::DILocation::get(module.getContext(), place->getLine(), 0, place));
  build.CreateCall(told);
}

const Taker* called_taker(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration() || call.arg_size() < 2) return nullptr;
  const auto* found = llvm::find_if(kTakers, [callee](const Taker& taker) { return callee->getName() == taker.name; });
  const bool is_taker = found != std::end(kTakers) && call.getArgOperand(found->argument)->getType()->isPointerTy();
  return is_taker ? found : nullptr;
}

// The kernel reads it, if it can.
bool may_be_unreadable(const llvm::CallBase& call, const Taker& taker) {
  if (taker.name != "sigaltstack" || call.isMustTailCall()) return false;
  return !llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(llvm::getUnderlyingObject(call.getArgOperand(taker.argument)));
}

void tell_of_signal_stack(llvm::CallBase& call) {
  if (llvm::isa<llvm::ConstantPointerNull>(call.getArgOperand(0))) return;  // it asks
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(call.getContext()), false);
  llvm::Function* told = runtime_function(*call.getModule(), kSignalStackSetSymbol, type);
  if (told == nullptr) return;
  llvm::IRBuilder<> build(if_there(told, behind(call)));
  build.SetCurrentDebugLocation(call.getDebugLoc());
  build.CreateCall(told);
}

// In front of the call.
void tell(llvm::StringRef runtime_name, llvm::Value* value, llvm::CallBase& call) {
  llvm::LLVMContext& context = call.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false);
  llvm::Function* told = runtime_function(*call.getModule(), runtime_name, type);
  if (told == nullptr) return;
  llvm::IRBuilder<> build(if_there(told, &call));
  build.SetCurrentDebugLocation(call.getDebugLoc());
  build.CreateCall(told, {value->getType()->isPointerTy() ? value : build.CreateIntToPtr(value, pointer)});
}

// Values that assembly which loads the stack pointer gets in registers: one may be the end of a stack.
llvm::SmallVector<llvm::Value*, 2> given_to(const llvm::CallBase& assembly) {
  llvm::SmallVector<llvm::Value*, 2> values;
  unsigned argument = 0;
  for (const llvm::InlineAsm::ConstraintInfo& constraint : assembly_of(assembly)->ParseConstraints()) {
    if (!constraint.hasArg()) continue;
    llvm::Value* const value = assembly.getArgOperand(argument++);
    const bool is_address = value->getType()->isPointerTy() || value->getType()->isIntegerTy(64);
    if (!constraint.isIndirect && is_address && !llvm::isa<llvm::Constant>(value)) values.push_back(value);
  }
  return values;
}

void tell_of(llvm::CallBase& call) {
  if (const Taker* taker = called_taker(call)) {
    if (may_be_unreadable(call, *taker)) return tell_of_signal_stack(call);
    return tell(taker->told, call.getArgOperand(taker->argument), call);
  }
  for (llvm::Value* value : given_to(call)) tell("stab_rt_clone_stack", value, call);
}

bool is_told_of(const llvm::CallBase& call) {
  return called_taker(call) != nullptr || (may_load_stack_pointer(call) && !given_to(call).empty());
}

}  // namespace

llvm::PreservedAnalyses StacksInFrames::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (module.getCodeModel() == llvm::CodeModel::Kernel) return llvm::PreservedAnalyses::all();
  const auto early = reached_from_resolvers(module);
  llvm::SmallVector<llvm::CallBase*, 4> calls;
  for (llvm::Function& function : module) {
    if (!may_call_runtime(function) || early.contains(&function)) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call != nullptr && is_told_of(*call)) calls.push_back(call);
  }
  const bool is_switching = loads_stack_pointer(module);
  llvm::SmallVector<llvm::Function*, 4> frames;
  for (llvm::Function& function : module)
    if ((is_switching || function.getName() == "main") && !early.contains(&function) && has_array(function))
      frames.push_back(&function);
  const llvm::TargetLibraryInfoImpl libc{llvm::Triple(module.getTargetTriple())};
  const bool is_marked = !is_switching && llvm::any_of(module, [&libc](const llvm::Function& function) {
    return function.getName() != "main" && gives_array_away(function, libc);
  });
  if (is_marked) mark_object(module, abi::kStackArraysSection);
  for (llvm::CallBase* call : calls) tell_of(*call);
  for (llvm::Function* function : frames) tell_of_frame(*function);
  return calls.empty() && frames.empty() && !is_marked ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace stab
