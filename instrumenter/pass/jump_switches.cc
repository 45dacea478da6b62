// The problem: coroutines may lie below each other on one stack, each in room that an array of its caller's keeps free. setjmp
// and longjmp lead up to the scheduler and down again. Frames of a coroutine that rests lie below the stack pointer, so no thread
// shows what they return to, and images must not be used again. The room is what the program thought its frames would need,
// without pads. Nothing else tells: no stack is made, and none is measured.
//
// The approach: who switches saves where it is and leaves for another place at once. So a function that calls setjmp calls
// longjmp with another buffer on a path where setjmp has returned 0. Who handles errors leaves by the buffer that it has just
// filled, or from another function, or where setjmp has not returned 0. A buffer in the function's own frame is an error
// handler's: its chain of handlers begins there. A mark is linked with the object. Post-link takes it for a switch of stacks if
// the program calls longjmp, and keeps the program's pads at 0.
//
// Who calls another function to leave may be seen, too: it goes on alike, whether that has returned or somebody has come back.
// Who handles errors does something else then. Its buffer is its coroutine's, and so no variable of the program's. Where it is in
// one, the function that is called leaves by another variable.
//
// A wrong mark costs little: layouts end with the ring, and the starts of stacks alone are random.
#include "instrumenter/pass/jump_switches.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "instrumenter/pass/section_mark.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

using llvm::Value;

constexpr llvm::StringRef kSaves[] = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"};
constexpr llvm::StringRef kJumps[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

template <size_t kNames>
bool calls_one_of(const llvm::CallBase& call, const llvm::StringRef (&names)[kNames]) {
  const llvm::Function* const callee = call.getCalledFunction();
  return callee != nullptr && call.arg_size() > 0 && llvm::is_contained(names, callee->getName());
}

bool returns(const llvm::Function& function) {
  return llvm::any_of(function, [](const llvm::BasicBlock& block) { return llvm::isa<llvm::ReturnInst>(block.getTerminator()); });
}

// The buffers that a function of this module leaves by which is called, as its caller knows them. What it computes is null: a
// buffer that is unknown here.
llvm::SmallVector<const Value*, 1> buffers_of_callee(const llvm::CallBase& call, const llvm::Function& callee) {
  llvm::SmallVector<const Value*, 1> buffers;
  for (const llvm::Instruction& instruction : llvm::instructions(callee)) {
    const auto* jump = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (jump == nullptr || !calls_one_of(*jump, kJumps)) continue;
    const Value* const buffer = jump->getArgOperand(0)->stripPointerCasts();
    const auto* argument = llvm::dyn_cast<llvm::Argument>(buffer);
    if (argument != nullptr && argument->getArgNo() < call.arg_size())
      buffers.push_back(call.getArgOperand(argument->getArgNo()));
    else
      buffers.push_back(llvm::isa<llvm::Constant>(buffer) ? buffer : nullptr);
  }
  return buffers;
}

const llvm::Function* callee_in_module(const llvm::CallBase& call) {
  const llvm::Function* const callee = call.getCalledFunction();
  return callee == nullptr || callee->isDeclaration() ? nullptr : callee;
}

// The buffers that a call leaves by for good: its argument, or what a function of this module that ends in longjmp takes.
llvm::SmallVector<const Value*, 1> buffers_left_by(const llvm::CallBase& call) {
  if (calls_one_of(call, kJumps)) return {call.getArgOperand(0)};
  const llvm::Function* const callee = callee_in_module(call);
  if (callee == nullptr || returns(*callee)) return {};
  return buffers_of_callee(call, *callee);
}

// Whether what is called may return, or leave by a variable of the program's that is another than where `saved` lies.
bool may_leave_by_another_variable(const llvm::CallBase& call, const Value* saved) {
  const llvm::Function* const callee = callee_in_module(call);
  const auto* const variable = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(saved));
  if (callee == nullptr || variable == nullptr || !returns(*callee)) return false;
  return llvm::any_of(buffers_of_callee(call, *callee), [variable](const Value* buffer) {
    const Value* const object = buffer == nullptr ? nullptr : llvm::getUnderlyingObject(buffer);
    return object != nullptr && object != variable && llvm::isa<llvm::GlobalVariable>(object);
  });
}

// A buffer that is loaded twice, or found twice by an index, counts as two: what leads to it may have changed.
bool is_one_buffer(const Value* one, const Value* other, const llvm::DataLayout& sizes) {
  if (other == nullptr) return false;
  int64_t offset = 0, other_offset = 0;
  const Value* const base = llvm::GetPointerBaseWithConstantOffset(one, offset, sizes);
  return base == llvm::GetPointerBaseWithConstantOffset(other, other_offset, sizes) && offset == other_offset;
}

// What a call of setjmp returned, also where it was stored to a variable.
class Result {
 public:
  explicit Result(const llvm::CallBase& save) : save_(save) {
    for (const llvm::User* user : save.users())
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
        if (llvm::isa<llvm::AllocaInst>(store->getPointerOperand())) variables_.insert(store->getPointerOperand());
  }

  // The blocks that may follow where it is 0.
  llvm::SmallVector<const llvm::BasicBlock*, 2> next_where_zero(const llvm::Instruction& terminator) const {
    if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&terminator); branch != nullptr && branch->isConditional()) {
      const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
      if (compare != nullptr && compare->isEquality() && is(compare->getOperand(0)) && is_zero(compare->getOperand(1)))
        return {branch->getSuccessor(compare->getPredicate() == llvm::ICmpInst::ICMP_EQ ? 0 : 1)};
    }
    if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&terminator); choice != nullptr && is(choice->getCondition())) {
      for (const auto& one : choice->cases())
        if (one.getCaseValue()->isZero()) return {one.getCaseSuccessor()};
      return {choice->getDefaultDest()};
    }
    return {llvm::succ_begin(&terminator), llvm::succ_end(&terminator)};
  }

 private:
  bool is(const Value* value) const {
    if (value == &save_) return true;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
    return load != nullptr && variables_.contains(load->getPointerOperand());
  }

  static bool is_zero(const Value* value) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
    return number != nullptr && number->isZero();
  }

  const llvm::CallBase& save_;
  llvm::SmallPtrSet<const Value*, 2> variables_;
};

// Whether the path from `first` to its block's end leaves by another buffer than `saved`.
bool leaves_by_another(const llvm::Instruction* first, const Value* saved, const llvm::DataLayout& sizes) {
  for (const llvm::Instruction* at = first; at != nullptr; at = at->getNextNode()) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(at);
    if (call == nullptr) continue;
    const auto is_another = [&](const Value* buffer) { return !is_one_buffer(saved, buffer, sizes); };
    if (llvm::any_of(buffers_left_by(*call), is_another) || may_leave_by_another_variable(*call, saved)) return true;
  }
  return false;
}

// Where a path comes to that does nothing on its way; null: nowhere. `from`: the block before.
const llvm::BasicBlock* end_of_idle_path(const llvm::BasicBlock* block, const llvm::BasicBlock*& from) {
  llvm::SmallPtrSet<const llvm::BasicBlock*, 4> seen;
  while (seen.insert(block).second) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&*block->getFirstNonPHIOrDbg());
    if (branch == nullptr || branch->isConditional() || llvm::isa<llvm::PHINode>(block->front())) return block;
    from = block;
    block = branch->getSuccessor(0);
  }
  return nullptr;
}

bool calls_function(const llvm::BasicBlock& block) {
  return llvm::any_of(block, [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call != nullptr && !call->isInlineAsm() && !llvm::isa<llvm::IntrinsicInst>(call);
  });
}

// Whether the values with which a block is entered are the same, by which path ever.
bool is_entered_alike(const llvm::BasicBlock& block, const llvm::BasicBlock* from) {
  return llvm::all_of(block.phis(), [from](const llvm::PHINode& phi) {
    const Value* const comes = phi.getIncomingValueForBlock(from);
    return llvm::all_of(phi.incoming_values(), [comes](const llvm::Use& other) { return other.get() == comes; });
  });
}

// Whether something is called where setjmp has returned 0, and what follows is what follows where it has returned something else.
bool goes_on_alike(const llvm::CallBase& save) {
  if (llvm::isa<llvm::Constant>(save.getArgOperand(0)) || !save.hasOneUse()) return false;
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(*save.user_begin());
  const auto* number = compare == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1));
  if (number == nullptr || !number->isZero() || !compare->isEquality() || !compare->hasOneUse()) return false;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(*compare->user_begin());
  if (branch == nullptr) return false;
  const unsigned where_zero = compare->getPredicate() == llvm::ICmpInst::ICMP_EQ ? 0 : 1;
  const llvm::BasicBlock* from = branch->getParent();
  const llvm::BasicBlock* const back = end_of_idle_path(branch->getSuccessor(1 - where_zero), from);
  if (back == nullptr || !is_entered_alike(*back, from)) return false;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
  llvm::SmallVector<const llvm::BasicBlock*, 16> left = {branch->getSuccessor(where_zero)};
  bool calls = false, comes_to_it = false;
  while (!left.empty()) {
    const llvm::BasicBlock* const block = left.pop_back_val();
    comes_to_it |= block == back;
    if (block == back || block == save.getParent() || !seen.insert(block).second) continue;
    calls |= calls_function(*block);
    llvm::append_range(left, llvm::successors(block));
  }
  return calls && comes_to_it;
}

bool switches_at(const llvm::CallBase& save, const llvm::DataLayout& sizes) {
  const Value* const saved = save.getArgOperand(0);
  if (llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(saved))) return false;
  if (goes_on_alike(save)) return true;
  if (leaves_by_another(save.getNextNode(), saved, sizes)) return true;
  const Result result(save);
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
  llvm::SmallVector<const llvm::BasicBlock*, 16> left = {};
  llvm::append_range(left, result.next_where_zero(*save.getParent()->getTerminator()));
  while (!left.empty()) {
    const llvm::BasicBlock* const block = left.pop_back_val();
    if (!seen.insert(block).second) continue;
    if (leaves_by_another(&block->front(), saved, sizes)) return true;
    llvm::append_range(left, result.next_where_zero(*block->getTerminator()));
  }
  return false;
}

bool switches_in(const llvm::Function& function) {
  const llvm::DataLayout& sizes = function.getParent()->getDataLayout();
  return llvm::any_of(llvm::instructions(function), [&sizes](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call != nullptr && calls_one_of(*call, kSaves) && switches_at(*call, sizes);
  });
}

}  // namespace

llvm::PreservedAnalyses JumpSwitches::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (llvm::none_of(module, switches_in)) return llvm::PreservedAnalyses::all();
  mark_object(module, abi::kJumpSwitchesSection);
  return llvm::PreservedAnalyses::none();
}

}  // namespace stab
