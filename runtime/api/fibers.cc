// Stacks that the program switches to by itself. A function takes a pad only within the budget of the stack that its
// thread's record describes, so on a fiber there are none until the fiber has said where it is.
#include "runtime/stack/stack_start.h"
#include "stab/stab.h"

namespace stab::api {
namespace {

struct FiberStack {
  uint64_t lowest = 0;  // 0: this entry is free
  uint64_t bytes = 0;
};
constexpr uint64_t kTaken = 1;  // FiberStack::lowest of an entry that is being written
constexpr size_t kMaxFibers = 4096;
FiberStack fibers[kMaxFibers];

// The thread's own stack, kept while it runs a fiber.
__attribute__((tls_model("initial-exec"))) thread_local abi::StackRecord own_stack = abi::kNowhere;
__attribute__((tls_model("initial-exec"))) thread_local bool on_fiber = false;

// Fibers are small and can't grow, so pads may use an eighth, and at most what a thread's may.
constexpr uint64_t kFiberShare = 8;

FiberStack* find(const void* lowest) {
  for (FiberStack& fiber : fibers)
    if (__atomic_load_n(&fiber.lowest, __ATOMIC_ACQUIRE) == reinterpret_cast<uint64_t>(lowest)) return &fiber;
  return nullptr;
}

}  // namespace
}  // namespace stab::api

extern "C" {

int stab_rt_fiber_register(void* lowest, size_t bytes) {
  using namespace stab;
  using namespace stab::api;
  if (reinterpret_cast<uint64_t>(lowest) <= kTaken || bytes == 0) return STAB_BAD_ARGUMENT;
  if (find(lowest) != nullptr) return STAB_BAD_ARGUMENT;
  for (FiberStack& fiber : fibers) {
    uint64_t free = 0;
    if (!__atomic_compare_exchange_n(&fiber.lowest, &free, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) continue;
    fiber.bytes = bytes;
    __atomic_store_n(&fiber.lowest, reinterpret_cast<uint64_t>(lowest), __ATOMIC_RELEASE);
    return STAB_OK;
  }
  return STAB_FULL;
}

int stab_rt_fiber_unregister(void* lowest) {
  using namespace stab;
  using namespace stab::api;
  FiberStack* fiber = lowest == nullptr ? nullptr : find(lowest);
  if (fiber == nullptr) return STAB_NOT_BEGUN;
  __atomic_store_n(&fiber->lowest, uint64_t{0}, __ATOMIC_RELEASE);
  return STAB_OK;
}

int stab_rt_fiber_enter(void* lowest) {
  using namespace stab;
  using namespace stab::api;
  if (lowest == nullptr) {
    if (!on_fiber) return STAB_NOT_BEGUN;
    stab_stack = own_stack;
    on_fiber = false;
    return STAB_OK;
  }
  const FiberStack* fiber = find(lowest);
  if (fiber == nullptr) return STAB_NOT_BEGUN;
  if (!on_fiber) own_stack = stab_stack;
  on_fiber = true;
  const uint64_t share = fiber->bytes / kFiberShare;
  const uint64_t own = own_stack.base > own_stack.lowest ? own_stack.base - own_stack.lowest : 0;
  stab_stack = pads_below(fiber->lowest + fiber->bytes, share < own ? share : own);
  return STAB_OK;
}

}  // extern "C"
