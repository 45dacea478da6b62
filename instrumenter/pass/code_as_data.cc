// The problem: a program may copy a function's bytes to other memory and run them there, sum them up, or change them. The first
// bytes of a function that moves are a jump that leads elsewhere from another place, and each epoch changes it. A pad reads its
// slot by its distance from the code.
//
// The approach: a function's address is followed through what makes other addresses of it, through variables, into functions of
// the module that it is given to, and back. If it comes to a load, a store, or a function of libc's that reads or writes memory
// there, the function stays as the compiler made it, without a pad. What another function's address bounds, by a comparison or a
// difference, goes as far as that one: all functions between them stay. If either end is of another module, or the linker's name
// for an end of the text, the runtime is told before (told_calls.cc). An address that other objects or tables get is not
// followed. What is made of an address waits in a list, as generated code adds to one more often than the compiler's stack is
// deep.
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
#include <vector>

#include "instrumenter/pass/stack_pads.h"

namespace stab {
namespace {

using llvm::Value;

// The first and the last argument that may be addresses of bytes, or their places in /proc/self/mem.
struct TakesBytes {
  llvm::StringRef name;
  unsigned first;
  unsigned last;
};
constexpr TakesBytes kTakeBytes[] = {
    {"memcpy", 0, 1}, {"memmove", 0, 1},  {"mempcpy", 0, 1},      {"memcmp", 0, 1}, {"bcmp", 0, 1},    {"bcopy", 0, 1},
    {"memchr", 0, 0}, {"memset", 0, 0},   {"__memcpy_chk", 0, 1}, {"fwrite", 0, 0}, {"write", 1, 1},   {"__memmove_chk", 0, 1},
    {"pwrite", 1, 3}, {"pwrite64", 1, 3}, {"pread", 3, 3},        {"send", 1, 1},   {"lseek", 1, 1},   {"pread64", 3, 3},
    {"fseek", 1, 1},  {"fseeko", 1, 1},   {"mprotect", 0, 0},     {"ptrace", 2, 2}, {"lseek64", 1, 1}, {"pkey_mprotect", 0, 0},
};

bool takes_bytes_at(const llvm::CallBase& call, unsigned argument) {
  if (llvm::isa<llvm::MemIntrinsic>(call)) return argument < (llvm::isa<llvm::MemTransferInst>(call) ? 2 : 1);
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return false;
  const auto* found = llvm::find_if(kTakeBytes, [callee](const TakesBytes& one) { return one.name == callee->getName(); });
  return found != std::end(kTakeBytes) && argument >= found->first && argument <= found->last;
}

// What the linker calls the text's beginning and end.
constexpr llvm::StringRef kTextNames[] = {"__executable_start", "etext", "_etext", "__etext"};

// And those of a section that has a function of the module.
bool is_section_of_code(const llvm::Module& module, llvm::StringRef name) {
  return llvm::any_of(module, [name](const llvm::Function& function) { return function.getSection() == name; });
}

bool is_code(const llvm::GlobalValue& value) {
  if (llvm::isa<llvm::Function>(value)) return true;
  llvm::StringRef name = value.getName();
  if (!value.isDeclaration()) return false;
  if (llvm::is_contained(kTextNames, name)) return true;
  return (name.consume_front("__start_") || name.consume_front("__stop_")) && is_section_of_code(*value.getParent(), name);
}

// The addresses that a module makes of one, and whether bytes are read or written at any of them.
class Uses {
 public:
  Uses(const llvm::DataLayout& sizes, const llvm::GlobalValue& code) : sizes_(sizes) {
    follow(code);
    while (!waiting_.empty())
      for (const llvm::Use& use : waiting_.pop_back_val()->uses()) follow_use(use);
  }

  bool reach_bytes() const { return reach_bytes_; }

  // Whether one of these addresses is compared with one of `other`'s, or subtracted from it or the other way round.
  bool are_bounded_by(const Uses& other) const {
    return llvm::any_of(other.seen_, [&](const Value* address) {
      return llvm::any_of(address->users(), [&](const llvm::User* user) {
        const unsigned operation = llvm::Operator::getOpcode(user);
        if (operation != llvm::Instruction::ICmp && operation != llvm::Instruction::Sub) return false;
        return llvm::any_of(user->operands(), [&](const Value* one) { return one != address && seen_.contains(one); });
      });
    });
  }

 private:
  void follow(const Value& address) {
    if (seen_.insert(&address).second) waiting_.push_back(&address);
  }

  void follow_use(const llvm::Use& use) {
    const llvm::User& user = *use.getUser();
    if (llvm::isa<llvm::LoadInst>(user)) {
      reach_bytes_ = true;
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user)) {
      if (use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex()) reach_bytes_ = true;
      else follow_variable(*store->getPointerOperand(), *store->getValueOperand()->getType());
    } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&user)) {
      follow_variable(*variable, *use->getType());
    } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&user)) {
      if (call->isArgOperand(&use)) follow_argument(*call, use);
    } else if (const auto* end = llvm::dyn_cast<llvm::ReturnInst>(&user)) {
      follow_result(*end->getFunction());
    } else if (leads_on(user, use)) {
      follow(user);
    }
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

  // A function's own variables, as all values are where nothing is optimized, and the module's.
  void follow_variable(const Value& variable, const llvm::Type& type) {
    if (!llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(variable) || !variables_.insert({&variable, &type}).second) return;
    for (const llvm::User* user : variable.users()) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
      if (load != nullptr && load->getType() == &type) follow(*load);
    }
  }

  // To whomever calls the function, as templates do that take an iterator apart.
  void follow_result(const llvm::Function& function) {
    if (!returned_.insert(&function).second) return;
    for (const llvm::User* user : function.users()) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call != nullptr && call->getCalledFunction() == &function) follow(*call);
    }
  }

  void follow_argument(const llvm::CallBase& call, const llvm::Use& use) {
    const unsigned argument = call.getArgOperandNo(&use);
    if (takes_bytes_at(call, argument)) reach_bytes_ = true;
    const llvm::Function* callee = call.getCalledFunction();
    if (callee != nullptr && !callee->isDeclaration() && argument < callee->arg_size()) follow(*callee->getArg(argument));
  }

  const llvm::DataLayout& sizes_;
  llvm::SmallPtrSet<const Value*, 16> seen_;
  llvm::SmallVector<const Value*, 16> waiting_;
  llvm::DenseSet<std::pair<const Value*, const llvm::Type*>> variables_;  // whose loads are followed
  llvm::SmallPtrSet<const llvm::Function*, 4> returned_;                  // whose callers are
  bool reach_bytes_ = false;
};

void keep(llvm::Function& function) {
  function.addFnAttr(kCodeIsDataAttribute);
  function.addFnAttr(kNoPadAttribute);
}

// The text has functions in the module's order.
void keep_between(const llvm::Function& one, const llvm::Function& other) {
  bool is_inside = false;
  for (llvm::Function& function : *const_cast<llvm::Module*>(one.getParent())) {
    const bool is_end = &function == &one || &function == &other;
    if ((is_inside || is_end) && !function.isDeclaration()) keep(function);
    is_inside = is_inside != is_end;
  }
}

// All that make an address of it, which is before they read there; who only calls it makes none.
void mark_readers(const llvm::Constant& code) {
  llvm::SmallPtrSet<const llvm::Constant*, 8> seen{&code};  // a variable may have its distance from the code in it
  llvm::SmallVector<const llvm::Constant*, 8> waiting{&code};
  while (!waiting.empty())
    for (const llvm::Use& use : waiting.pop_back_val()->uses()) {
      const llvm::User* const user = use.getUser();
      const auto* const call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call != nullptr && call->isCallee(&use)) continue;
      if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user))
        const_cast<llvm::Function*>(instruction->getFunction())->addFnAttr(kReadsTextAttribute);
      else if (llvm::isa<llvm::ConstantExpr, llvm::GlobalVariable>(user) && seen.insert(llvm::cast<llvm::Constant>(user)).second)
        waiting.push_back(llvm::cast<llvm::Constant>(user));
    }
}

struct Code {
  llvm::GlobalValue* value;
  Uses uses;
};

void keep_what_is_read(Code& code, llvm::ArrayRef<Code> all) {
  auto* const function = code.value->isDeclaration() ? nullptr : llvm::dyn_cast<llvm::Function>(code.value);
  if (function != nullptr) keep(*function);
  for (const Code& bound : all) {
    if (bound.value == code.value || !code.uses.are_bounded_by(bound.uses)) continue;
    const auto* end = bound.value->isDeclaration() ? nullptr : llvm::dyn_cast<llvm::Function>(bound.value);
    if (function != nullptr && end != nullptr) {
      keep_between(*function, *end);
    } else {
      mark_readers(*code.value);
      mark_readers(*bound.value);
    }
  }
}

}  // namespace

llvm::PreservedAnalyses CodeAsData::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  std::vector<Code> all;
  for (llvm::GlobalValue& value : module.global_values())
    if (is_code(value) && !value.use_empty()) all.push_back({&value, Uses(module.getDataLayout(), value)});
  bool any = false;
  for (Code& code : all) {
    if (!code.uses.reach_bytes()) continue;
    keep_what_is_read(code, all);
    any = true;
  }
  return any ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace stab
