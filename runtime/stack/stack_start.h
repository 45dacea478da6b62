// Where a thread's stack starts, and how much of it pads may use.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/sections_abi.h"

namespace stab {

// The plan for one stack. All zero where nothing may change.
struct StackStart {
  uint32_t offset_bytes = 0;  // of the first frame: 0, or a multiple of 16 of at least a page
  uint64_t budget_bytes = 0;  // how deep below that pads are taken
};

// A stack of `stack_bytes` under this process's settings; `index` numbers the threads, main is 0.
StackStart plan_stack(size_t stack_bytes, uint64_t index);

// The most that a program's own frames can lose on any stack of this size, in whole pages: the largest offset, the
// budget, and a last pad that begins just inside it. 0 when stack is off.
size_t largest_cost_bytes(size_t stack_bytes);

// Pads are taken from `base` down to `budget_bytes` below it.
abi::StackRecord pads_below(uint64_t base, uint64_t budget_bytes);

// Makes this thread's pads count from `base`. The caller has made room for the offset above it.
void begin_stack(const void* base, const StackStart& start);

}  // namespace stab

// What the instrumented functions read; see sections_abi.h.
extern "C" __attribute__((visibility("default"), tls_model("initial-exec"))) thread_local stab::abi::StackRecord
    stab_stack;
