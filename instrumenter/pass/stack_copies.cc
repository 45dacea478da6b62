// The problem: a program may copy its stack to the heap and put it back later, by setjmp, memcpy and longjmp. The copy holds
// return addresses that no thread shows, so images must not be used again. Nothing in the copying itself tells: it is a memcpy.
//
// The approach: who copies a stack must know how long it is. That is the distance between an address in the present frame and one
// that comes from elsewhere, as the stack's base does. No other code has a use for such a number but to compare it with a limit.
// A mark is linked with the object then. Post-link takes it for a switch of stacks if the program calls longjmp, too.
//
// A wrong mark costs little: layouts end with the ring.
#include "instrumenter/pass/stack_copies.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "instrumenter/pass/section_mark.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

using llvm::Value;
using Values = llvm::DenseSet<const Value*>;

// What tells a place on the stack: where a frame is, or what the stack pointer holds.
bool tells_stack(const llvm::CallBase& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::frameaddress:
    case llvm::Intrinsic::addressofreturnaddress:
    case llvm::Intrinsic::sponentry:
    case llvm::Intrinsic::stacksave: return true;
    case llvm::Intrinsic::read_register:
    case llvm::Intrinsic::read_volatile_register: return true;
    default: break;
  }
  const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  return assembly != nullptr && !call.getType()->isVoidTy() && llvm::StringRef(assembly->getAsmString()).contains("%rsp");
}

using Functions = llvm::SmallPtrSet<const llvm::Function*, 4>;

// A place in one of a function's variables.
struct Slot {
  const llvm::AllocaInst* variable = nullptr;  // absent: it is in none
  std::optional<int64_t> offset;               // absent: it depends on what runs
  bool holds_pointer = false;

  // A field and another one of the same struct are two places.
  bool may_be(const Slot& other) const {
    return offset && other.offset ? *offset == *other.offset : holds_pointer == other.holds_pointer;
  }
};
using Slots = llvm::DenseMap<const llvm::AllocaInst*, llvm::SmallVector<Slot, 1>>;  // by their variable

bool is_among(const Slot& slot, const Slots& slots) {
  const auto found = slots.find(slot.variable);
  return found != slots.end() && llvm::any_of(found->second, [&slot](const Slot& one) { return one.may_be(slot); });
}

// Whether it is new there.
bool add_to(Slots& slots, const Slot& slot) {
  auto& known = slots[slot.variable];
  const auto is_same = [&slot](const Slot& one) {
    return one.offset == slot.offset && one.holds_pointer == slot.holds_pointer;
  };
  if (llvm::any_of(known, is_same)) return false;
  known.push_back(slot);
  return true;
}

// The values of one function that are addresses in its frame, and those that come from elsewhere. Where `tellers` is given, what
// these functions return counts as such an address, too, and so does what intrinsics tell; otherwise its own variables alone do.
class Places {
 public:
  Places(const llvm::Function& function, const Functions* tellers)
      : sizes_(function.getParent()->getDataLayout()), tellers_(tellers) {
    for (bool more = true; more;) {
      more = false;
      for (const llvm::Instruction& instruction : llvm::instructions(function)) more |= add(instruction);
    }
  }

  bool in_frame(const Value* value) const { return in_frame_.contains(value); }

  // An address that this function hasn't made of one in its frame: an argument, what it loads, or what it is returned.
  bool from_elsewhere(const Value* value) const {
    for (int depth = 0; depth < kMostSteps; ++depth) {
      if (in_frame(value)) return false;
      if (llvm::isa<llvm::Argument>(value)) return true;
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) return loads_from_elsewhere(*load);
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(value))
        return call->getIntrinsicID() == llvm::Intrinsic::not_intrinsic && !call->isInlineAsm() && !is_given_frame(*call);
      if (!llvm::isa<llvm::CastInst, llvm::GetElementPtrInst>(value)) return false;
      value = llvm::cast<llvm::Instruction>(value)->getOperand(0);
    }
    return false;
  }

 private:
  static constexpr int kMostSteps = 16;

  Slot slot_of(const Value* pointer, const llvm::Type* type) const {
    int64_t offset = 0;
    const Value* const base = llvm::GetPointerBaseWithConstantOffset(pointer, offset, sizes_);
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(base)) return {variable, offset, type->isPointerTy()};
    return {llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer)), {}, type->isPointerTy()};
  }

  bool is_given_frame(const llvm::CallBase& call) const {
    return llvm::any_of(call.args(), [this](const llvm::Use& argument) { return in_frame(argument.get()); });
  }

  // What lies in the function's own frame comes from elsewhere if it was put there from elsewhere by the function itself.
  bool loads_from_elsewhere(const llvm::LoadInst& load) const {
    const Slot slot = slot_of(load.getPointerOperand(), load.getType());
    if (slot.variable == nullptr) return !in_frame(load.getPointerOperand());
    return is_among(slot, filled_from_elsewhere_);
  }

  bool add(const llvm::Instruction& instruction) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      const Slot slot = slot_of(store->getPointerOperand(), store->getValueOperand()->getType());
      if (slot.variable == nullptr) return false;
      if (in_frame(store->getValueOperand())) return add_to(holds_frame_, slot);
      return from_elsewhere(store->getValueOperand()) && add_to(filled_from_elsewhere_, slot);
    }
    return is_in_frame(instruction) && in_frame_.insert(&instruction).second;
  }

  // A place that the stack is measured from holds a number or a pointer. What is larger is a buffer, measured for its own sake.
  bool is_small(const llvm::AllocaInst& place) const {
    constexpr uint64_t kMostBits = 128;
    const auto bits = place.getAllocationSizeInBits(sizes_);
    return bits && !bits->isScalable() && bits->getFixedValue() <= kMostBits;
  }

  bool is_in_frame(const llvm::Instruction& instruction) const {
    if (const auto* place = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) return is_small(*place);
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      return tellers_ != nullptr && (tells_stack(*call) || tellers_->contains(call->getCalledFunction()));
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      const Slot slot = slot_of(load->getPointerOperand(), load->getType());
      return slot.variable != nullptr && is_among(slot, holds_frame_);
    }
    if (llvm::isa<llvm::CastInst, llvm::GetElementPtrInst>(instruction)) return in_frame(instruction.getOperand(0));
    // An address and a constant, as alignment makes them.
    const auto* arithmetic = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
    return arithmetic != nullptr && in_frame(arithmetic->getOperand(0)) && llvm::isa<llvm::Constant>(arithmetic->getOperand(1));
  }

  const llvm::DataLayout& sizes_;
  const Functions* tellers_;
  Values in_frame_;
  Slots holds_frame_;  // where an address in the frame was stored
  Slots filled_from_elsewhere_;
};

// Whether a number is compared, and nothing else is done with it: a limit of recursion.
bool is_only_compared(const Value& number, llvm::SmallPtrSetImpl<const Value*>& seen) {
  if (!seen.insert(&number).second) return true;
  return llvm::all_of(number.users(), [&seen](const llvm::User* user) {
    if (llvm::isa<llvm::ICmpInst>(user)) return true;
    const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(user);
    const bool passes = llvm::isa<llvm::CastInst, llvm::BinaryOperator, llvm::SelectInst, llvm::PHINode>(user) ||
                        (intrinsic != nullptr && intrinsic->getIntrinsicID() == llvm::Intrinsic::abs);
    return passes && is_only_compared(*user, seen);
  });
}

bool measures(const llvm::Function& function, const Functions* tellers) {
  const auto is_sub = [](const llvm::Instruction& instruction) { return instruction.getOpcode() == llvm::Instruction::Sub; };
  if (llvm::none_of(llvm::instructions(function), is_sub)) return false;
  const Places places(function, tellers);
  return llvm::any_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
    if (!is_sub(instruction)) return false;
    const Value* const from = instruction.getOperand(0);
    const Value* const to = instruction.getOperand(1);
    const bool down = places.in_frame(to) && places.from_elsewhere(from), up = places.in_frame(from) && places.from_elsewhere(to);
    if (!down && !up) return false;
    llvm::SmallPtrSet<const Value*, 16> seen;
    return !is_only_compared(instruction, seen);
  });
}

// Functions that return an address in their frame: what their callers subtract is on the stack, too.
bool returns_frame(const llvm::Function& function) {
  if (!function.getReturnType()->isPointerTy() && !function.getReturnType()->isIntegerTy(64)) return false;
  const Functions none;
  const Places places(function, &none);
  return llvm::any_of(llvm::instructions(function), [&places](const llvm::Instruction& instruction) {
    const auto* end = llvm::dyn_cast<llvm::ReturnInst>(&instruction);
    return end != nullptr && end->getReturnValue() != nullptr && places.in_frame(end->getReturnValue());
  });
}

bool measures_in_any(const llvm::Module& module) {
  Functions tellers;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration() && returns_frame(function)) tellers.insert(&function);
  return llvm::any_of(module, [&tellers](const llvm::Function& function) {
    return !function.isDeclaration() && measures(function, &tellers);
  });
}

}  // namespace

bool measures_stack(const llvm::Function& function) {
  return !function.isDeclaration() && measures(function, nullptr);
}

llvm::PreservedAnalyses StackCopies::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!measures_in_any(module)) return llvm::PreservedAnalyses::all();
  mark_object(module, abi::kStackCopiesSection);
  return llvm::PreservedAnalyses::none();
}

}  // namespace stab
