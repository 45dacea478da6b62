// The problem: a program may copy a function's bytes to other memory and run them there, sum them up, or change them. The first
// bytes of a function that moves are a jump that leads elsewhere from another place, and each epoch changes it. A pad reads its
// slot by its distance from the code.
//
// The approach: a function's address is followed through what makes other addresses of it, through variables, into functions of
// the module that it is given to, and back. If it comes to a load, a store, or a function of libc's that reads or writes memory
// there, the function stays as the compiler made it, without a pad. An address that other objects or data get is not followed.
#include "instrumenter/pass/code_as_data.h"

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <iterator>

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
    if (!seen_.insert(&address).second) return false;
    return llvm::any_of(address.uses(), [this](const llvm::Use& use) { return reaches_bytes(use); });
  }

 private:
  bool reaches_bytes(const llvm::Use& use) {
    const llvm::User& user = *use.getUser();
    if (llvm::isa<llvm::LoadInst>(user)) return true;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user))
      return use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex() || is_kept_and_reaches(*store);
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&user))
      return call->isArgOperand(&use) && is_passed_and_reaches(*call, use);
    if (const auto* end = llvm::dyn_cast<llvm::ReturnInst>(&user)) return is_returned_and_reaches(*end->getFunction());
    return leads_on(user, use) && reach_bytes(user);
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
  bool is_kept_and_reaches(const llvm::StoreInst& store) {
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(store.getPointerOperand());
    return variable != nullptr && llvm::any_of(variable->users(), [&](const llvm::User* user) {
             const auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
             return load != nullptr && load->getType() == store.getValueOperand()->getType() && reach_bytes(*load);
           });
  }

  // To whomever calls the function, as templates do that take an iterator apart.
  bool is_returned_and_reaches(const llvm::Function& function) {
    return llvm::any_of(function.users(), [&](const llvm::User* user) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      return call != nullptr && call->getCalledFunction() == &function && reach_bytes(*call);
    });
  }

  bool is_passed_and_reaches(const llvm::CallBase& call, const llvm::Use& use) {
    const unsigned argument = call.getArgOperandNo(&use);
    if (takes_bytes_at(call, argument)) return true;
    const llvm::Function* callee = call.getCalledFunction();
    return callee != nullptr && !callee->isDeclaration() && argument < callee->arg_size() &&
           reach_bytes(*callee->getArg(argument));
  }

  const llvm::DataLayout& sizes_;
  llvm::SmallPtrSet<const Value*, 16> seen_;
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
