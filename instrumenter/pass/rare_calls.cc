// The problem: many functions call something in a case of error only, or to make a buffer larger. A pad costs all of their
// activations a frame pointer, and where one call depends on this and another on that, it comes before both. The
// approach: ask the compiler how often it expects each call, by the profile, or by what the source marks as unlikely or
// cold and what ends the program. The least expected ones don't count, as long as all of them together stay rare: one
// case of many in a switch is seldom, but one of them is taken each time.
#include "instrumenter/pass/rare_calls.h"

#include <llvm/ADT/STLExtras.h>

namespace stab {
namespace {

// Rare: in at most one of so many activations. A branch to a call of a cold function is expected in one of 17.
constexpr uint64_t kActivations = 16;

// The most that a block may be expected and be among the rare ones, plus one; 0: none is. `expected` is of each block
// with a call. Equally expected blocks are all among them or none is.
uint64_t rare_below(llvm::SmallVectorImpl<uint64_t>& expected, uint64_t few) {
  llvm::sort(expected);
  uint64_t sum = 0, below = 0;
  for (size_t i = 0; i < expected.size() && expected[i] <= few - sum; ++i) {
    sum += expected[i];
    if (i + 1 == expected.size() || expected[i + 1] != expected[i]) below = expected[i] + 1;
  }
  return below;
}

}  // namespace

void drop_rare_calls(const llvm::BlockFrequencyInfo& frequencies, llvm::SmallVectorImpl<llvm::Instruction*>& calls) {
  const auto expected = [&frequencies](const llvm::Instruction* call) {
    return frequencies.getBlockFreq(call->getParent()).getFrequency();
  };
  llvm::SmallVector<uint64_t, 16> of_blocks;
  const llvm::BasicBlock* counted = nullptr;
  for (const llvm::Instruction* call : calls) {
    if (call->getParent() != counted) of_blocks.push_back(expected(call));
    counted = call->getParent();
  }
  const uint64_t below = rare_below(of_blocks, frequencies.getEntryFreq().getFrequency() / kActivations);
  llvm::erase_if(calls, [&](const llvm::Instruction* call) { return expected(call) < below; });
}

}  // namespace stab
