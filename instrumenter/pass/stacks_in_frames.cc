// The problem: a stack for makecontext, sigaltstack or clone may be an array in a function's frame, as in makecontext's manual
// page. It lies within the thread's own stack. So code that runs on it would take pads, and such a stack has no room for them.
//
// The approach: before the program calls one of the three, it hands what it calls it with to the runtime, which takes pads below
// the array alone from then on (runtime/stack/stacks_in_frames.cc). Most such arrays are main's, and assembly may switch to one,
// too. So where main has an array, pads are taken below main's frame alone. Not seen are arrays of other functions that assembly
// switches to.
#include "instrumenter/pass/stacks_in_frames.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <iterator>

#include "instrumenter/pass/resolvers.h"
#include "instrumenter/pass/runtime_calls.h"

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

// void (): called by main, it takes pads below main's frame alone.
constexpr llvm::StringRef kFrameSymbol = "stab_rt_frame_of_stacks";
constexpr uint64_t kSmallestStackBits = uint64_t{1024} * 8;

bool is_main_with_array(const llvm::Function& function) {
  if (function.getName() != "main" || !may_call_runtime(function)) return false;
  const llvm::DataLayout& sizes = function.getParent()->getDataLayout();
  return llvm::any_of(function.getEntryBlock(), [&sizes](const llvm::Instruction& instruction) {
    if (!is_fixed_local(instruction)) return false;
    const auto bits = llvm::cast<llvm::AllocaInst>(instruction).getAllocationSizeInBits(sizes);
    return bits && !bits->isScalable() && bits->getFixedValue() >= kSmallestStackBits;
  });
}

// At the beginning, before main takes its pad.
void tell_of_frame(llvm::Function& main) {
  llvm::Module& module = *main.getParent();
  llvm::Function* told =
      runtime_function(module, kFrameSymbol, llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false));
  if (told == nullptr) return;
  llvm::Instruction* first = &main.getEntryBlock().front();
  while (is_fixed_local(*first)) first = first->getNextNode();
  llvm::IRBuilder<> build(if_there(told, first));
  if (llvm::DISubprogram* place = main.getSubprogram())
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

void tell_of(llvm::CallBase& call) {
  const Taker& taker = *called_taker(call);
  llvm::LLVMContext& context = call.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context)}, false);
  llvm::Function* told = runtime_function(*call.getModule(), taker.told, type);
  if (told == nullptr) return;
  llvm::IRBuilder<> build(if_there(told, &call));
  build.SetCurrentDebugLocation(call.getDebugLoc());
  build.CreateCall(told, {call.getArgOperand(taker.argument)});
}

}  // namespace

llvm::PreservedAnalyses StacksInFrames::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (module.getCodeModel() == llvm::CodeModel::Kernel) return llvm::PreservedAnalyses::all();
  const auto early = reached_from_resolvers(module);
  llvm::SmallVector<llvm::CallBase*, 4> calls;
  for (llvm::Function& function : module) {
    if (!may_call_runtime(function) || early.contains(&function)) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call != nullptr && called_taker(*call) != nullptr)
        calls.push_back(call);
  }
  for (llvm::CallBase* call : calls) tell_of(*call);
  llvm::Function* const main = module.getFunction("main");
  const bool has_array = main != nullptr && is_main_with_array(*main);
  if (has_array) tell_of_frame(*main);
  return calls.empty() && !has_array ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace stab
