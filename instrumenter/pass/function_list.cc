// The problem: an executable holds functions of our compilers beside start files and static archives that we
// know nothing about, and only the former are safe to move. The approach: !pcsections metadata on each defined
// function makes LLVM emit its address and size into stab_funcs, in a section that is tied to the function's own
// and goes where that goes (comdat, --gc-sections). What is listed is aligned as far as moving needs.
#include "instrumenter/pass/function_list.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Alignment.h>

#include <algorithm>
#include <cstdint>

#include "instrumenter/pass/code_as_data.h"
#include "instrumenter/pass/gnu_assembler.h"
#include "instrumenter/pass/inline_assembly.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

// One aligned store of 8 bytes leads an entry elsewhere. Who wants small code asks for less (-Os with -falign-functions=1).
constexpr uint64_t kLeastAlignment = 8;

bool is_stacksave(const llvm::Value* value) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::stacksave;
}

// What the function itself has saved, as at the end of a variable array's scope. Where nothing is optimized it lies in a
// variable meanwhile.
bool is_saved_stack(const llvm::Value* value) {
  if (is_stacksave(value)) return true;
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  const auto* place = load == nullptr ? nullptr : llvm::dyn_cast<llvm::AllocaInst>(load->getPointerOperand());
  return place != nullptr && llvm::all_of(place->users(), [place](const llvm::User* user) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (store != nullptr) return store->getPointerOperand() == place && is_stacksave(store->getValueOperand());
    return llvm::isa<llvm::LoadInst>(user) || llvm::cast<llvm::Instruction>(user)->isLifetimeStartOrEnd();
  });
}

bool writes_stack_pointer(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr) return false;
  if (call->getIntrinsicID() == llvm::Intrinsic::write_register) return true;
  if (call->getIntrinsicID() == llvm::Intrinsic::stackrestore) return !is_saved_stack(call->getArgOperand(0));
  return may_load_stack_pointer(*call);
}

// Whether it may load the stack pointer by assembly or an intrinsic, as switches of stacks do. Unlisted it is judged by its
// bytes, as code of other compilers is: what compilers load themselves is nothing but a frame's end.
bool may_switch_stacks(const llvm::Function& function) {
  return function.hasFnAttribute(llvm::Attribute::Naked) || llvm::any_of(llvm::instructions(function), writes_stack_pointer);
}

bool writes_stack_map(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::experimental_stackmap:
    case llvm::Intrinsic::experimental_patchpoint:
    case llvm::Intrinsic::experimental_patchpoint_void:
    case llvm::Intrinsic::experimental_gc_statepoint: return true;
    default: return false;
  }
}

// A load that faults at a null pointer takes the place of this comparison, and a handler of faults looks it up in a table.
bool may_write_fault_map(const llvm::Instruction& instruction) {
  return instruction.getMetadata(llvm::LLVMContext::MD_make_implicit) != nullptr;
}

// Whether a language runtime may look its return addresses up in a table, to find what a collection of garbage must keep, or its
// loads. Those of a copy are in none. A shadow stack has no table.
bool is_looked_up(const llvm::Function& function) {
  if (function.hasGC() && function.getGC() != "shadow-stack") return true;
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return writes_stack_map(instruction) || may_write_fault_map(instruction);
  });
}

// Who has a pointer to it may read data that are in front of it, or at its start, where a jump into an image is.
bool has_data_at_entry(const llvm::Function& function) {
  return function.hasPrefixData() || function.hasPrologueData() || function.hasMetadata(llvm::LLVMContext::MD_kcfi_type);
}

// A tool finds by that list which code a thread is in (-fexperimental-sanitize-metadata), and no copy is in it. With link-time
// optimization it is there before ours.
bool is_in_list_of_others(const llvm::Function& function) { return function.hasMetadata(llvm::LLVMContext::MD_pcsections); }

}  // namespace

llvm::PreservedAnalyses FunctionList::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::MDNode* listed = llvm::MDBuilder(module.getContext()).createPCSections({{abi::kFunctionsSection, {}}});
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (function.hasAvailableExternallyLinkage()) continue;  // emitted by another module, listed there
    // It compares each return address with the one that the original would have, so no copy of it runs.
    if (function.hasFnAttribute(llvm::Attribute::SpeculativeLoadHardening)) continue;
    if (may_switch_stacks(function) || is_looked_up(function) || has_data_at_entry(function)) continue;
    if (is_in_list_of_others(function) || function.hasFnAttribute(kCodeIsDataAttribute)) continue;
    if (!may_be_tied_to(function)) continue;
    function.setMetadata(llvm::LLVMContext::MD_pcsections, listed);
    function.setAlignment(std::max(function.getAlign().valueOrOne(), llvm::Align(kLeastAlignment)));
  }
  return llvm::PreservedAnalyses::all();  // neither is seen by analyses
}

}  // namespace stab
