// The problem: a pad takes six instructions or eight, where stacks don't move and where they do, so it is 15 % of a function
// that executes 50, and such functions are entered most often: pads were 5 % of what perl, Lua and Tcl execute. The approach:
// leave them out. What they call is moved by the pads of their callers, together with them; only the distance between
// the two frames, which lie side by side, is the same in all layouts.
//
// How much less moves was measured as the entropy of the cache set that the stack pointer is in, function by function, with
// new pads every 5 ms, where 1 is uniform (tests/bench/stack_movement, docs/contributors/stack.md): nothing changes in eprover,
// gnugo and Tcl with functions of up to 200 instructions left out; perl has 0.79 with all pads, 0.77 without those of fewer than
// 48 instructions, 0.69 of 100 and 0.65 of 200.
#include "instrumenter/pass/short_activations.h"

namespace stab {
namespace {

constexpr double kShort = 48;

double instructions_of(const llvm::BasicBlock& block, const llvm::TargetTransformInfo& costs) {
  double count = 0;
  for (const llvm::Instruction& instruction : block.instructionsWithoutDebug()) {
    const llvm::InstructionCost cost = costs.getInstructionCost(&instruction, llvm::TargetTransformInfo::TCK_CodeSize);
    if (!cost.isValid()) continue;
    const std::optional<llvm::InstructionCost::CostType> value = cost.getValue();  // LLVM 22 gives the number itself
    count += static_cast<double>(*value);
  }
  return count;
}

}  // namespace

bool is_short(const llvm::Function& function, const llvm::BlockFrequencyInfo& frequencies,
              const llvm::TargetTransformInfo& costs) {
  const auto entries = static_cast<double>(frequencies.getEntryFreq().getFrequency());
  double sum = 0;
  for (const llvm::BasicBlock& block : function)
    sum += instructions_of(block, costs) * static_cast<double>(frequencies.getBlockFreq(&block).getFrequency());
  return sum < kShort * entries;
}

}  // namespace stab
