// The problem: a padded function addresses its locals through rbp, which is then no register for anything else. Where
// a loop needs all of them, as in dynamic programming over many arrays, one value more lives in memory: hmmer's inner
// loop took 15 % longer. The approach: count what an innermost loop without calls keeps, at least, in registers: its
// integers and pointers that come from outside, and those that go round. Such a function is left without a pad; those
// of its callers move it, and what it calls, all the same.
#include "instrumenter/pass/tight_loops.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace stab {
namespace {

// x86-64 has 15 beside the stack pointer; a loop's body needs some to compute with.
constexpr size_t kKeptValues = 12;

bool in_a_general_register(const llvm::Value& value) {
  return value.getType()->isPointerTy() || value.getType()->isIntegerTy();
}

bool calls_nothing(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) return false;
  return true;
}

// A constant or an alloca is no value to keep: it is an immediate, an offset from the frame.
bool comes_from_outside(const llvm::Value& value, const llvm::Loop& loop) {
  if (llvm::isa<llvm::Argument>(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  return instruction != nullptr && !llvm::isa<llvm::AllocaInst>(instruction) && !loop.contains(instruction);
}

size_t kept_values(const llvm::Loop& loop) {
  llvm::SmallPtrSet<const llvm::Value*, 32> kept;
  for (const llvm::PHINode& phi : loop.getHeader()->phis())
    if (in_a_general_register(phi)) kept.insert(&phi);
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      for (const llvm::Value* operand : instruction.operand_values())
        if (in_a_general_register(*operand) && comes_from_outside(*operand, loop)) kept.insert(operand);
  return kept.size();
}

}  // namespace

bool has_tight_loop(const llvm::LoopInfo& loops) {
  for (const llvm::Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && calls_nothing(*loop) && kept_values(*loop) >= kKeptValues) return true;
  return false;
}

}  // namespace stab
