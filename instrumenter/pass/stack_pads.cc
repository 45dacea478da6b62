// The problem: where a function's locals lie, and with them which cache sets they use, follows from the frames
// above it, so it changes with every unrelated edit. The approach: each function that calls another one moves
// the stack pointer by a random multiple of 16 below 4096 first. That shifts its callees; a leaf needs no pad
// of its own. The amount is read from the function's slot in section stab_pads, which the helper process
// rewrites at each epoch: one aligned load an activation, no lock.
//
//   if (rsp >= stab_stack.lowest)        thread-local; where stacks don't move it is the highest address there is
//     if (rsp <= stab_stack.base)        always true, but on stacks that the runtime does not know
//       rsp -= u16 of the own slot       volatile; stab_pads, read-only
//
// That is six instructions, two where stacks don't move, and one more in position-independent code; rsp waits for
// no load but the slot's. An alloca of the pad would take three more, so the stack pointer is moved by assembly, beside
// an alloca of nothing: because of it, code generation knows that the stack pointer's distance from the frame is
// not fixed, gives the function a frame pointer, and restores from it.
//
// The two bounds limit what recursion through pointers can add: nothing is padded further than a budget below
// the thread's base, so at most budget + 4080 bytes are lost however deep the program goes. A stack that the
// runtime does not know (a signal stack, a fiber, a thread made by other means) lies outside of them, and there are
// no pads. The runtime's side is runtime/stack; finding the recursive components of the whole image is the
// post-link step's work.
//
// The pad goes to the closest point that dominates all calls but rare ones and lies in no cycle: paths that call
// nothing stay as they were, and a loop can't pile pads up. Where it would cost much and move little there is none
// (rare_calls.cc, tight_loops.cc, short_activations.cc), and none where the function would no longer work (own_frame.cc).
#include "instrumenter/pass/stack_pads.h"

#include <algorithm>

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GlobalIFunc.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "instrumenter/pass/gnu_assembler.h"
#include "instrumenter/pass/inline_assembly.h"
#include "instrumenter/pass/module_registration.h"
#include "instrumenter/pass/own_frame.h"
#include "instrumenter/pass/rare_calls.h"
#include "instrumenter/pass/resolvers.h"
#include "instrumenter/pass/short_activations.h"
#include "instrumenter/pass/tight_loops.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

using Calls = llvm::SmallVector<llvm::Instruction*, 16>;

// Pads are multiples of what the stack pointer is always a multiple of: 16, or with -mstack-alignment more. The slots have
// multiples of 16; of these the rest is cut off.
constexpr uint64_t kPadAlign = 16;
// With fewer than four pads below 4096 there is little to draw.
constexpr uint64_t kMostPadAlign = 1024;

uint64_t pad_align(const llvm::Module& module) {
  return std::max<uint64_t>(kPadAlign, module.getOverrideStackAlignment());
}

// Whether the function returns right after `call`, and nothing but what the call returned, so that a call marked
// `tail` will be a jump. Code generation duplicates a return block into its predecessors to make that so, hence
// the look ahead.
bool returns_at_once(const llvm::CallInst& call) {
  const llvm::Instruction* next = call.getNextNode();
  while (llvm::isa<llvm::DbgInfoIntrinsic>(next)) next = next->getNextNode();
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(next);
  if (branch != nullptr && branch->isUnconditional()) next = &*branch->getSuccessor(0)->getFirstNonPHIOrDbg();
  const auto* end = llvm::dyn_cast<llvm::ReturnInst>(next);
  if (end == nullptr) return false;
  const llvm::Value* returned = end->getReturnValue();
  if (const auto* merged = llvm::dyn_cast_or_null<llvm::PHINode>(returned);
      merged != nullptr && branch != nullptr && merged->getParent() == end->getParent())
    returned = merged->getIncomingValueForBlock(call.getParent());
  return returned == nullptr || returned == &call || llvm::isa<llvm::UndefValue>(returned);
}

// A call that runs another function on this one's stack and comes back.
bool is_real_call(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr) return false;
  if (llvm::isa<llvm::IntrinsicInst>(call)) return false;
  if (call->isInlineAsm()) return false;
  if (call->doesNotReturn()) return false;  // abort, throw: what follows is not measured work
  const auto* plain = llvm::dyn_cast<llvm::CallInst>(call);
  return plain == nullptr || !plain->isTailCall() || !returns_at_once(*plain);
}

// The staircase: every step is a reason to leave a function's frame alone.
bool may_pad(const llvm::Function& function, uint64_t align) {
  if (function.isDeclaration()) return false;
  if (function.hasAvailableExternallyLinkage()) return false;  // its code comes from another module
  if (function.hasFnAttribute(kPaddedAttribute)) return false;
  if (function.hasFnAttribute(kNoPadAttribute)) return false;  // -ffreestanding: nobody may set up thread-local storage
  if (function.hasFnAttribute(llvm::Attribute::Naked)) return false;  // has no frame; the body is asm
  if (function.getFnStackAlign().valueOrOne().value() > align) return false;  // what it calls may count on it
  if (function.hasGC()) return false;  // a collector is told where its frame's values lie
  if (function.isPresplitCoroutine()) return false;  // an alloca would become part of the coroutine's frame
  if (function.hasFnAttribute(llvm::Attribute::DisableSanitizerInstrumentation)) return false;  // asked for
  // Sanitizers and safe stacks rewrite dynamic allocas into something that is no longer a pad.
  if (function.hasFnAttribute(llvm::Attribute::SanitizeAddress)) return false;
  if (function.hasFnAttribute(llvm::Attribute::SanitizeHWAddress)) return false;
  if (function.hasFnAttribute(llvm::Attribute::SanitizeMemory)) return false;
  if (function.hasFnAttribute(llvm::Attribute::SanitizeMemTag)) return false;
  if (function.hasFnAttribute(llvm::Attribute::SafeStack)) return false;
  // Split stacks are looked at before a frame is made, not before a pad is taken.
  if (function.hasFnAttribute("split-stack")) return false;
  return may_be_tied_to(function);
}

// The calls to shift.
Calls calls_to_shift(llvm::Function& function) {
  Calls calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (is_real_call(instruction)) calls.push_back(&instruction);
  return calls;
}

// Assembly that the pad has to come before, as it must not come between one that pushes and one that pops.
void add_assembly(llvm::Function& function, Calls& calls) {
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call != nullptr && assembly_of(*call) != nullptr)
      if (uses_stack_pointer(*call)) calls.push_back(&instruction);
}

llvm::SmallPtrSet<const llvm::BasicBlock*, 16> blocks_in_cycles(llvm::Function& function) {
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> blocks;
  for (auto component = llvm::scc_begin(&function); !component.isAtEnd(); ++component)
    if (component.hasCycle())
      for (const llvm::BasicBlock* block : *component) blocks.insert(block);
  return blocks;
}

// Where nothing is optimized, what lives from one block to the next takes room in the frame, which would make recursive
// programs' frames larger. Behind the stores of the arguments nothing does.
llvm::Instruction* place_behind_arguments(llvm::Function& function) {
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const bool stores_argument = store != nullptr && llvm::isa<llvm::Argument>(store->getValueOperand());
    if (!stores_argument && !llvm::isa<llvm::AllocaInst>(instruction) && !instruction.isDebugOrPseudoInst())
      return &instruction;
  }
  return nullptr;  // not reached: a block has a terminator
}

// Where the pad goes: before the first call of the closest block that dominates all of them and is in no cycle,
// or before its terminator. Calls in unreachable blocks don't count.
llvm::Instruction* place_for_pad(llvm::Function& function, const Calls& calls, const llvm::DominatorTree& dominators) {
  llvm::BasicBlock* block = nullptr;
  for (llvm::Instruction* call : calls) {
    llvm::BasicBlock* other = call->getParent();
    if (!dominators.isReachableFromEntry(other)) continue;
    block = block == nullptr ? other : dominators.findNearestCommonDominator(block, other);
  }
  if (block == nullptr) return nullptr;
  const auto cyclic = blocks_in_cycles(function);
  while (cyclic.contains(block)) block = dominators.getNode(block)->getIDom()->getBlock();  // the entry is in none
  for (llvm::Instruction& instruction : *block)
    if (llvm::is_contained(calls, &instruction)) return &instruction;
  return block->getTerminator();
}

// The slot is a constant, so that it lands in read-only pages; the load is volatile, so that nobody believes
// in its value. It shares the function's comdat, or is tied to its section: both are discarded together.
llvm::GlobalVariable* make_slot(llvm::Module& module, llvm::Function& function) {
  auto* type = llvm::Type::getInt32Ty(module.getContext());
  auto* slot = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                        llvm::ConstantInt::get(type, 0), "stab_pad");
  slot->setSection(abi::kPadsSection);
  slot->setAlignment(llvm::Align(4));
  slot->setComdat(function.getComdat());
  slot->setMetadata(llvm::LLVMContext::MD_associated,
                    llvm::MDNode::get(module.getContext(), llvm::ValueAsMetadata::get(&function)));
  return slot;
}

}  // namespace

// Weak, so that objects link without the runtime too (and are never padded then);
// the runtime's definition wins. Initial-exec: an immediate after the linker's relaxation in executables, and
// found in the executable's static block by shared libraries, which objects made with -fPIE may end up in, too. Other
// code is for executables only, and knows the record's distance from the thread pointer.
llvm::GlobalVariable* stack_record(llvm::Module& module) {
  if (auto* known = module.getGlobalVariable(abi::kStackRecordSymbol)) return known;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), 2);
  auto* record = new llvm::GlobalVariable(module, type, /*isConstant=*/false, llvm::GlobalValue::WeakAnyLinkage,
                                          llvm::ConstantAggregateZero::get(type), abi::kStackRecordSymbol, nullptr,
                                          llvm::GlobalValue::InitialExecTLSModel);
  record->setAlignment(llvm::Align(16));
  record->setDSOLocal(module.getPICLevel() == llvm::PICLevel::NotPIC);
  return record;
}

namespace {

// Functions of recursive components of the module's direct call graph. Post-link finds those of the whole image.
llvm::SmallPtrSet<const llvm::Function*, 16> recursive_functions(llvm::Module& module) {
  llvm::SmallPtrSet<const llvm::Function*, 16> functions;
  llvm::CallGraph graph(module);
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component)
    if (component.hasCycle())
      for (const llvm::CallGraphNode* node : *component)
        if (node->getFunction() != nullptr) functions.insert(node->getFunction());
  return functions;
}

}  // namespace

llvm::SmallPtrSet<const llvm::Function*, 4> reached_from_resolvers(const llvm::Module& module) {
  llvm::SmallPtrSet<const llvm::Function*, 4> functions;
  llvm::SmallVector<const llvm::Function*, 4> open;
  for (const llvm::GlobalIFunc& ifunc : module.ifuncs()) open.push_back(ifunc.getResolverFunction());
  while (!open.empty()) {
    const llvm::Function* function = open.pop_back_val();
    if (function == nullptr || !functions.insert(function).second) continue;
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      const llvm::Value* callee = call->getCalledOperand()->stripPointerCastsAndAliases();
      open.push_back(llvm::dyn_cast<llvm::Function>(callee));
    }
  }
  return functions;
}

namespace {

// The pad is the slot's lower half; above it are flags.
llvm::Value* load_pad(llvm::IRBuilder<>& build, llvm::GlobalVariable* slot) {
  llvm::Value* pad = build.CreateLoad(build.getInt16Ty(), slot, /*isVolatile=*/true, "stab.pad");
  const uint64_t align = pad_align(*slot->getParent());
  return align == kPadAlign ? pad : build.CreateAnd(pad, build.getInt16(static_cast<uint16_t>(-align)));
}

// Moves the stack pointer. The alloca is of an empty structure, since an array would make -fstack-protector give the
// function a canary. The volatile store of no byte emits nothing, and keeps the alloca: one that only has lifetime
// markers is dead to some passes of code generation, and the frame would be given back without the pad.
void take_pad(llvm::IRBuilder<>& build, llvm::Value* pad) {
  llvm::StructType* empty = llvm::StructType::get(build.getContext());
  llvm::AllocaInst* nothing = build.CreateAlloca(empty, nullptr, "stab.moves");
  nothing->setAlignment(llvm::Align(pad_align(*build.GetInsertBlock()->getModule())));
  build.CreateStore(llvm::ConstantStruct::get(empty, {}), nothing, /*isVolatile=*/true);
  auto* type = llvm::FunctionType::get(build.getVoidTy(), {build.getInt64Ty()}, false);
  build.CreateCall(llvm::InlineAsm::get(type, kTakePad, "r,~{rsp},~{flags}",
                                        /*hasSideEffects=*/true),
                   {build.CreateZExt(pad, build.getInt64Ty())});
}

// Splits before `place`, for code that runs if `condition`, and returns its end.
llvm::Instruction* branch_before(llvm::Instruction* place, llvm::Value* condition, llvm::MDNode* weights) {
  llvm::BasicBlock* entry = &place->getFunction()->getEntryBlock();
  if (place->getParent() == entry)  // locals below `place` are fixed as long as they are in the entry block
    for (llvm::Instruction& below : llvm::make_early_inc_range(llvm::make_range(place->getIterator(), entry->end())))
      if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(&below); local != nullptr && local->isStaticAlloca())
        local->moveBefore(*entry, entry->begin());
  return llvm::SplitBlockAndInsertIfThen(condition, place->getIterator(), /*Unreachable=*/false, weights);
}

// The end of what runs, before `place`, if the stack pointer is at least (at most) what the thread's record says.
llvm::Instruction* if_bounded(llvm::Module& module, llvm::Instruction* place, llvm::CmpInst::Predicate bounded,
                              int bound) {
  llvm::IRBuilder<> build(place);
  build.SetCurrentDebugLocation(llvm::DebugLoc());
  llvm::Type* word = build.getInt64Ty();
  llvm::Value* record = build.CreateThreadLocalAddress(stack_record(module));
  llvm::Value* limit = build.CreateLoad(word, build.CreateConstInBoundsGEP1_64(word, record, bound), "stab.bound");
  llvm::Value* here = build.CreatePtrToInt(build.CreateStackSave(), word);
  llvm::MDNode* always = llvm::MDBuilder(module.getContext()).createLikelyBranchWeights();
  return branch_before(place, build.CreateICmp(bounded, here, limit), always);
}

// Both bounds. No value of the first comparison is used by the second: it would take room in unoptimized frames.
llvm::Instruction* within_bounds(llvm::Module& module, llvm::Instruction* place) {
  llvm::Instruction* inner = if_bounded(module, place, llvm::CmpInst::ICMP_UGE, 0);
  return if_bounded(module, inner, llvm::CmpInst::ICMP_ULE, 1);
}

void insert_pad(llvm::Module& module, llvm::Function& function, llvm::Instruction* before) {
  llvm::IRBuilder<> padded(within_bounds(module, before));
  padded.SetCurrentDebugLocation(llvm::DebugLoc());
  take_pad(padded, load_pad(padded, make_slot(module, function)));
}

// In a recursive function the slot is 0 but for STAB_STACK=recursive, and small recursive functions are where the
// arithmetic above weighs most (fib: +56 % of its time). So it is behind a branch that is never taken.
void insert_unlikely_pad(llvm::Module& module, llvm::Function& function, llvm::Instruction* before) {
  llvm::IRBuilder<> build(before);
  build.SetCurrentDebugLocation(llvm::DebugLoc());
  llvm::GlobalVariable* slot = make_slot(module, function);
  llvm::MDNode* never = llvm::MDBuilder(module.getContext()).createUnlikelyBranchWeights();
  llvm::Instruction* rare = branch_before(before, build.CreateIsNotNull(load_pad(build, slot)), never);
  llvm::IRBuilder<> padded(within_bounds(module, rare));
  padded.SetCurrentDebugLocation(llvm::DebugLoc());
  take_pad(padded, load_pad(padded, slot));
}

// What the function's pad comes before; null: it gets none. The pads of recursive functions stay 0, unless a run asks for them,
// too, and cost a register all the same. So these get one where all functions do.
llvm::Instruction* place_in(llvm::Function& function, bool recursive, llvm::FunctionAnalysisManager& analyses) {
  Calls calls = calls_to_shift(function);
  if (calls.empty()) return nullptr;
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  const auto vector_bits = target.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector);
  if (needs_own_frame(function, vector_bits.getFixedValue() / 8)) return nullptr;
  if (has_tight_loop(analyses.getResult<llvm::LoopAnalysis>(function))) return nullptr;
  if (function.hasOptNone()) return place_behind_arguments(function);
  const auto& frequencies = analyses.getResult<llvm::BlockFrequencyAnalysis>(function);
  const bool pads_all = function.hasFnAttribute(kPadShortAttribute);
  if (!pads_all && (recursive || is_short(function, frequencies, target))) return nullptr;
  drop_rare_calls(frequencies, calls);
  if (!calls.empty()) add_assembly(function, calls);
  return place_for_pad(function, calls, analyses.getResult<llvm::DominatorTreeAnalysis>(function));
}

}  // namespace

llvm::PreservedAnalyses StackPads::run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
  // A kernel has its own idea of %fs.
  if (module.getCodeModel() == llvm::CodeModel::Kernel) return llvm::PreservedAnalyses::all();
  // -mstack-alignment: frames are laid out as if the stack pointer were always aligned so.
  const uint64_t align = pad_align(module);
  if (align > kMostPadAlign) return llvm::PreservedAnalyses::all();
  auto& of_functions = analyses.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module).getManager();
  const auto early = reached_from_resolvers(module);
  const auto in_cycles = recursive_functions(module);
  bool changed = false;
  for (llvm::Function& function : module) {
    if (!may_pad(function, align) || early.contains(&function)) continue;
    const bool recursive = in_cycles.contains(&function);
    llvm::Instruction* place = place_in(function, recursive, of_functions);
    if (place == nullptr) continue;
    if (recursive) {
      insert_unlikely_pad(module, function, place);
    } else {
      insert_pad(module, function, place);
    }
    function.addFnAttr(kPaddedAttribute);
    changed = true;
  }
  if (changed) register_module_pads(module);
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace stab
