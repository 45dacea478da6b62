// The problem: a program may copy a function's bytes to other memory and run them there, sum them up, or change them. The first
// bytes of a function that moves are a jump that leads elsewhere from another place, and each epoch changes it. A pad reads its
// slot by its distance from the code.
//
// The approach: a function's address is followed through what makes other addresses of it, through variables, into functions of
// the module that it is given to, and back. If it comes to a load, a store, or a function of libc's that reads or writes memory
// there, the function stays as the compiler made it, without a pad. An address that other objects or data get is not followed.
// What is made of an address waits in a list, as generated code adds to one more often than the compiler's stack is deep.
#include "instrumenter/pass/code_as_data.h"

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <iterator>
#include <utility>

#include "instrumenter/pass/stack_pads.h"

namespace stab {
namespace {

using llvm::Value;

// The first and the last argument that are addresses of bytes.
struct TakesBytes {
  llvm::StringRef name;
  unsigned first;
  unsigned last;
};
constexpr TakesBytes kTakeBytes[] = {{"memcpy", 0, 1}, {"memmove", 0, 1}, {"mempcpy", 0, 1},      {"memcmp", 0, 1},
                                     {"bcmp", 0, 1},   {"bcopy", 0, 1},   {"__memcpy_chk", 0, 1}, {"__memmove_chk", 0, 1},
                                     {"memchr", 0, 0}, {"memset", 0, 0},  {"fwrite", 0, 0},       {"write", 1, 1},
                                     {"pwrite", 1, 1}, {"send", 1, 1},    {"mprotect", 0, 0},     {"pkey_mprotect", 0, 0}};

bool takes_bytes_at(const llvm::CallBase& call, unsigned argument) {
  if (llvm::isa<llvm::MemIntrinsic>(call)) return argument < (llvm::isa<llvm::MemTransferInst>(call) ? 2 : 1);
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return false;
  const auto* found = llvm::find_if(kTakeBytes, [callee](const TakesBytes& one) { return one.name == callee->getName(); });
  return found != std::end(kTakeBytes) && argument >= found->first && argument <= found->last;
}

class Uses {
 public:
  explicit Uses(const llvm::DataLayout& sizes) : sizes_(sizes) {}

  // Whether bytes are read or written at an address that is made of `address`.
  bool reach_bytes(const Value& address) {
    follow(address);
    while (!waiting_.empty())
      if (llvm::any_of(waiting_.pop_back_val()->uses(), [this](const llvm::Use& use) { return is_at_bytes(use); })) return true;
    return false;
  }

 private:
  void follow(const Value& address) {
    if (seen_.insert(&address).second) waiting_.push_back(&address);
  }

  // Whether this use reads or writes there; what it makes of the address is followed.
  bool is_at_bytes(const llvm::Use& use) {
    const llvm::User& user = *use.getUser();
    if (llvm::isa<llvm::LoadInst>(user)) return true;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user)) {
      if (use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex()) return true;
      follow_kept(*store);
    } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&user)) {
      if (!call->isArgOperand(&use)) return false;
      if (takes_bytes_at(*call, call->getArgOperandNo(&use))) return true;
      follow_passed(*call, call->getArgOperandNo(&use));
    } else if (const auto* end = llvm::dyn_cast<llvm::ReturnInst>(&user)) {
      follow_returned(*end->getFunction());
    } else if (leads_on(user, use)) {
      follow(user);
    }
    return false;
  }

  // An address in front of the function is of what lies there, such as its type (-fsanitize=function).
  bool leads_on(const llvm::User& user, const llvm::Use& use) const {
    if (const auto* place = llvm::dyn_cast<llvm::GEPOperator>(&user)) {
      llvm::APInt offset(sizes_.getIndexTypeSizeInBits(place->getType()), 0);
      return use.getOperandNo() == 0 && (!place->accumulateConstantOffset(sizes_, offset) || offset.isNonNegative());
    }
    switch (llvm::Operator::getOpcode(&user)) {
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::IntToPtr:
      case llvm::Instruction::BitCast:
      case llvm::Instruction::Add:
      case llvm::Instruction::Or:
      case llvm::Instruction::And:
      case llvm::Instruction::PHI:
      case llvm::Instruction::Select:
      case llvm::Instruction::Freeze:
        return true;
      case llvm::Instruction::Sub:
        return use.getOperandNo() == 0 && llvm::isa<llvm::ConstantInt>(user.getOperand(1));
      default:
        return false;
    }
  }

  // In a variable of the function's own, as all values are where nothing is optimized.
  void follow_kept(const llvm::StoreInst& store) {
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(store.getPointerOperand());
    if (variable == nullptr || !kept_.insert({variable, store.getValueOperand()->getType()}).second) return;
    for (const llvm::User* user : variable->users()) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
      if (load != nullptr && load->getType() == store.getValueOperand()->getType()) follow(*load);
    }
  }

  // To whomever calls the function, as templates do that take an iterator apart.
  void follow_returned(const llvm::Function& function) {
    if (!returned_.insert(&function).second) return;
    for (const llvm::User* user : function.users()) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call != nullptr && call->getCalledFunction() == &function) follow(*call);
    }
  }

  void follow_passed(const llvm::CallBase& call, unsigned argument) {
    const llvm::Function* callee = call.getCalledFunction();
    if (callee != nullptr && !callee->isDeclaration() && argument < callee->arg_size()) follow(*callee->getArg(argument));
  }

  const llvm::DataLayout& sizes_;
  llvm::SmallPtrSet<const Value*, 16> seen_;
  llvm::SmallVector<const Value*, 16> waiting_;
  llvm::DenseSet<std::pair<const Value*, const llvm::Type*>> kept_;  // whose loads are followed
  llvm::SmallPtrSet<const llvm::Function*, 4> returned_;             // whose callers are
};

}  // namespace

llvm::PreservedAnalyses CodeAsData::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  bool any = false;
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !Uses(module.getDataLayout()).reach_bytes(function)) continue;
    function.addFnAttr(kCodeIsDataAttribute);
    function.addFnAttr(kNoPadAttribute);
    any = true;
  }
  return any ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace stab
