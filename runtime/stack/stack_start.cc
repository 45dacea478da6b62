// The numbers: functions in recursive components have no pad, and pads end with the budget, so deep frames would
// keep their distance to the stack's start, and that is the same in every run without ASLR. So each stack also
// starts at a random offset of a page or more.
//
// Together they must leave the program its depth: a recursion that the plain build survives on 8 MiB may lose 2 %,
// 167,772 bytes. 36,848 + 98,304 + 4,080 is 1.7 %.
#include "runtime/stack/stack_start.h"

#include "runtime/arch/arch.h"
#include "runtime/layout_rng.h"
#include "runtime/settings.h"

thread_local stab::abi::StackRecord stab_stack = stab::abi::kNowhere;

namespace stab {
namespace {

constexpr uint32_t kPageBytes = arch::kPage;
constexpr uint32_t kOffsets = 2048;                     // offset: a page, plus 0 .. 2047 times 16 bytes
constexpr uint64_t kBudgetBytes = 96 * 1024;            // some 48 padded frames
constexpr uint64_t kThreadStreams = uint64_t{1} << 63;  // epochs number the other streams of kRngStack from 0

// `recursive` is there to show what padding recursion costs, so it may use half the stack.
uint64_t budget_bytes(abi::StackMode mode, size_t stack_bytes) {
  return mode == abi::StackMode::kRecursive ? stack_bytes / 2 : kBudgetBytes;
}

}  // namespace

StackStart plan_stack(size_t stack_bytes, uint64_t index) {
  const abi::Settings& wanted = settings();
  if (wanted.stack == abi::StackMode::kOff) return {};
  StackStart start;
  start.budget_bytes = budget_bytes(wanted.stack, stack_bytes);
  if (wanted.stack == abi::StackMode::kZero) return start;
  LayoutRng rng(wanted.seed, kRngStack, kThreadStreams | index);
  start.offset_bytes = kPageBytes + 16 * rng.below(kOffsets);
  return start;
}

size_t largest_cost_bytes(size_t stack_bytes) {
  const abi::StackMode mode = settings().stack;
  if (mode == abi::StackMode::kOff) return 0;
  const size_t most = kPageBytes + 16 * kOffsets + budget_bytes(mode, stack_bytes) + kPageBytes;
  return (most + kPageBytes - 1) / kPageBytes * kPageBytes;
}

abi::StackRecord pads_below(uint64_t base, uint64_t budget_bytes) {
  if (budget_bytes == 0) return abi::kNowhere;
  return {base - budget_bytes, base};
}

void begin_stack(const void* base, const StackStart& start) {
  stab_stack = pads_below(reinterpret_cast<uint64_t>(base), start.budget_bytes);
}

}  // namespace stab
