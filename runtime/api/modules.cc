// Shared libraries bring pads of their own. A constructor that the pass puts into each of them registers its slots
// here, a destructor takes them back, so that after dlclose nobody writes where something else may be mapped.
#include "runtime/api/ask_helper.h"
#include "runtime/settings.h"
#include "runtime/stack/stack_start.h"

namespace stab::api {
namespace {

bool draws_pads() {
  const abi::StackMode mode = settings().stack;
  return mode == abi::StackMode::kOn || mode == abi::StackMode::kRecursive;
}

// Takes a free entry. The address is stored last: it is what the helper looks at.
bool add(uint64_t slots_address, uint32_t slot_count) {
  const auto pid = sys::getpid();
  for (ModulePads& module : control().orders.modules) {
    uint64_t free = 0;
    if (!__atomic_compare_exchange_n(&module.slots_address, &free, kModuleTaken, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      continue;
    module.slot_count = slot_count;
    module.pid = pid;
    __atomic_store_n(&module.slots_address, slots_address, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&control().orders.module_slots, slot_count, __ATOMIC_RELAXED);
    return true;
  }
  return false;
}

}  // namespace
}  // namespace stab::api

extern "C" {

extern uint32_t __start_stab_pads[] __attribute__((weak, visibility("hidden")));  // the executable's

__attribute__((visibility("default"))) void stab_rt_module_load(uint32_t* start, uint32_t* stop,
                                                                const stab::abi::StackRecord* record) {
  using namespace stab;
  // Objects that were compiled for a library may be linked into the executable.
  if (start == __start_stab_pads || !api::has_helper()) return;
  if (settings().code != abi::CodeMode::kOff) add(control().code.libraries_stay);
  if (start == stop || !api::draws_pads()) return;
  if (record != &stab_stack) return degrade(control(), Degradation::kModuleStack);
  Orders& orders = control().orders;
  if (!api::add(reinterpret_cast<uint64_t>(start), static_cast<uint32_t>(stop - start))) {
    __atomic_fetch_add(&orders.modules_dropped, 1, __ATOMIC_RELAXED);
    degrade(control(), Degradation::kModulePads);
    return;
  }
  // Its first functions run with pads already.
  const uint32_t wanted = __atomic_add_fetch(&orders.modules_wanted, 1, __ATOMIC_SEQ_CST);
  if (api::send_orders()) api::wait_for_count(orders.modules_given, wanted);
}

// Libraries of before stab_rt_module_load don't say what they read.
__attribute__((visibility("default"))) void stab_rt_module_begin(uint32_t* start, uint32_t* stop) {
  stab_rt_module_load(start, stop, &stab_stack);
}

__attribute__((visibility("default"))) void stab_rt_module_end(uint32_t* start) {
  using namespace stab;
  if (!api::has_helper()) return;  // a forked child's copy of its parent's libraries
  Orders& orders = control().orders;
  for (ModulePads& module : orders.modules) {
    if (__atomic_load_n(&module.slots_address, __ATOMIC_RELAXED) != reinterpret_cast<uint64_t>(start)) continue;
    __atomic_fetch_sub(&orders.module_slots, module.slot_count, __ATOMIC_RELAXED);
    __atomic_store_n(&module.slots_address, 0, __ATOMIC_SEQ_CST);
  }
  // Memory that is about to be others': as long as somebody might still write there.
  while (!api::wait_until_idle() && !is_helper_dead()) {
  }
}

}  // extern "C"
