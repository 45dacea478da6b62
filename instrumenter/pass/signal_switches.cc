// The problem: a handler may keep the registers of what it interrupted, and put others in their place that it kept before. So
// programs have threads of their own that a timer takes turns of. Stacks and registers that rest hold addresses in images that
// no thread shows, so images must not be used again. No instruction loads the stack pointer: the kernel does, when the handler
// returns.
//
// The approach: a handler gets its context as the third argument. That is followed, through calls within the module, to whatever
// writes over the stack pointer in it. What is made of the old stack pointer is on the same stack: a handler that lets the thread
// call something writes that. A mark is linked with the object otherwise. Post-link takes it for a switch of stacks if the
// program calls sigaction, too.
//
// A wrong mark costs little: layouts end with the ring.
#include "instrumenter/pass/signal_switches.h"

#include <ucontext.h>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <cstddef>
#include <utility>

#include "instrumenter/pass/section_mark.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

using llvm::Value;

constexpr int64_t kStackPointerAt = offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, gregs) + REG_RSP * sizeof(greg_t);
constexpr int64_t kStackPointerEnd = kStackPointerAt + static_cast<int64_t>(sizeof(greg_t));
constexpr size_t kMostArguments = 1000;
constexpr unsigned kContextArgument = 2;

// An address in the context: how far from its begin. Unknown where it is computed, as in a loop over registers.
struct Place {
  const Value* address;
  int64_t offset;
  bool is_known;
};

bool is_handler(const llvm::Function& function) {
  if (function.isDeclaration() || !function.hasAddressTaken() || !function.getReturnType()->isVoidTy()) return false;
  return function.arg_size() == kContextArgument + 1 && function.getArg(0)->getType()->isIntegerTy(32) &&
         function.getArg(1)->getType()->isPointerTy() && function.getArg(kContextArgument)->getType()->isPointerTy();
}

class Context {
 public:
  explicit Context(const llvm::Module& module) : sizes_(module.getDataLayout()) {}

  // Whether the function that gets the context, or a place in it, as `argument` gives it another stack pointer.
  // True, too, where it is handed to more than are followed.
  bool gets_other_stack(const llvm::Argument& argument, int64_t offset) {
    if (!followed_.insert({&argument, offset}).second) return false;
    if (followed_.size() > kMostArguments) return true;
    llvm::SmallVector<Place, 16> open = {{&argument, offset, true}};
    llvm::DenseSet<const Value*> seen = {&argument};
    while (!open.empty()) {
      const Place place = open.pop_back_val();
      for (const llvm::Use& use : place.address->uses()) {
        if (writes_stack_pointer(use, place) || hands_on(use, place)) return true;
        for (const Place& next : places_by(use, place))
          if (seen.insert(next.address).second) open.push_back(next);
      }
    }
    return false;
  }

 private:
  static bool covers(const Place& place, uint64_t bytes) {
    if (!place.is_known) return place.offset <= kStackPointerAt;
    return place.offset <= kStackPointerAt && place.offset + static_cast<int64_t>(bytes) >= kStackPointerEnd;
  }

  // What was made of the stack pointer that is there: the interrupted stack, a little further up or down.
  static bool is_of_the_same_stack(const Value* value, const Value* address, int depth) {
    if (depth == 0) return false;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value))
      return llvm::getUnderlyingObject(load->getPointerOperand()) == llvm::getUnderlyingObject(address);
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst>(value)) return false;
    return llvm::any_of(llvm::cast<llvm::User>(value)->operands(), [address, depth](const llvm::Use& operand) {
      return is_of_the_same_stack(operand.get(), address, depth - 1);
    });
  }

  bool writes_stack_pointer(const llvm::Use& use, const Place& place) const {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(use.getUser())) {
      if (use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex()) return false;
      const Value* const value = store->getValueOperand();
      constexpr int kMostSteps = 6;
      return covers(place, sizes_.getTypeStoreSize(value->getType())) && !is_of_the_same_stack(value, place.address, kMostSteps);
    }
    const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(use.getUser());
    if (copy == nullptr || use.getOperandNo() != 0) return false;
    const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength());
    return covers(place, bytes != nullptr ? bytes->getZExtValue() : static_cast<uint64_t>(kStackPointerEnd));
  }

  bool hands_on(const llvm::Use& use, const Place& place) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    if (call == nullptr || !call->isArgOperand(&use) || !place.is_known) return false;
    const llvm::Function* const callee = call->getCalledFunction();
    const unsigned number = call->getArgOperandNo(&use);
    if (callee == nullptr || callee->isDeclaration() || number >= callee->arg_size()) return false;
    return gets_other_stack(*callee->getArg(number), place.offset);
  }

  // Other addresses of the context that `use` makes of `place`.
  llvm::SmallVector<Place, 2> places_by(const llvm::Use& use, const Place& place) const {
    const llvm::User* const user = use.getUser();
    if (llvm::isa<llvm::PHINode, llvm::SelectInst, llvm::CastInst>(user)) return {{user, place.offset, place.is_known}};
    if (const auto* part = llvm::dyn_cast<llvm::GEPOperator>(user)) {
      if (use.getOperandNo() != 0) return {};
      llvm::APInt distance(sizes_.getIndexTypeSizeInBits(part->getType()), 0);
      if (!place.is_known || !part->accumulateConstantOffset(sizes_, distance)) return {{user, place.offset, false}};
      return {{user, place.offset + distance.getSExtValue(), true}};
    }
    // A variable of the function's that holds it, where nothing is optimized.
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (store == nullptr || use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex()) return {};
    llvm::SmallVector<Place, 2> loads;
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(store->getPointerOperand()))
      for (const llvm::User* reader : variable->users())
        if (llvm::isa<llvm::LoadInst>(reader)) loads.push_back({reader, place.offset, place.is_known});
    return loads;
  }

  const llvm::DataLayout& sizes_;
  llvm::DenseSet<std::pair<const llvm::Argument*, int64_t>> followed_;
};

bool switches_in_handler(const llvm::Module& module) {
  return llvm::any_of(module, [&module](const llvm::Function& function) {
    return is_handler(function) && Context(module).gets_other_stack(*function.getArg(kContextArgument), 0);
  });
}

}  // namespace

llvm::PreservedAnalyses SignalSwitches::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!switches_in_handler(module)) return llvm::PreservedAnalyses::all();
  mark_object(module, abi::kSignalSwitchesSection);
  return llvm::PreservedAnalyses::none();
}

}  // namespace stab
