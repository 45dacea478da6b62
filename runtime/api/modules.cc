// Shared libraries bring code and pads of their own. A constructor that the pass puts into each of them registers them
// here, a destructor takes them back, so that after dlclose nobody writes where something else may be mapped.
#include "runtime/api/ask_helper.h"
#include "runtime/api/hidden_record.h"
#include "runtime/api/library_code.h"
#include "runtime/mapping.h"
#include "runtime/settings.h"
#include "runtime/stack/stack_start.h"

extern "C" {
extern uint32_t __start_stab_pads[] __attribute__((weak, visibility("hidden")));  // the executable's
}

namespace stab::api {
namespace {

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

// Returns when no change of what a library has that began before is still under way: its memory is about to be others'.
void wait_for_its_end() {
  while (!wait_until_idle() && !is_helper_dead()) {
  }
}

void load_pads(uint32_t* start, uint32_t* stop, const abi::StackRecord* record) {
  // Objects that were compiled for a library may be linked into the executable.
  if (start == __start_stab_pads || start == stop || !has_helper() || !abi::draws_pads(settings().stack)) return;
  if (record != &stab_stack && !lead_to_record(start)) return degrade(control(), Degradation::kModuleStack);
  Orders& orders = control().orders;
  if (!add(address_of(start), static_cast<uint32_t>(stop - start))) {
    __atomic_fetch_add(&orders.modules_dropped, 1, __ATOMIC_RELAXED);
    degrade(control(), Degradation::kModulePads);
    return;
  }
  // Its first functions run with pads already.
  const uint32_t wanted = __atomic_add_fetch(&orders.modules_wanted, 1, __ATOMIC_SEQ_CST);
  if (send_orders()) wait_for_count(orders.modules_given, wanted);
}

}  // namespace
}  // namespace stab::api

extern "C" {

__attribute__((visibility("default"))) void stab_rt_module_load(uint32_t* start, uint32_t* stop,
                                                                const stab::abi::StackRecord* record) {
  stab::api::load_pads(start, stop, record);
}

// Libraries of before stab_rt_module_load don't say what they read.
__attribute__((visibility("default"))) void stab_rt_module_begin(uint32_t* start, uint32_t* stop) {
  stab::api::load_pads(start, stop, &stab_stack);
}

__attribute__((visibility("default"))) void stab_rt_module_end(uint32_t* start) {
  using namespace stab;
  if (!api::has_helper()) return;  // a forked child's copy of its parent's libraries
  Orders& orders = control().orders;
  for (ModulePads& module : orders.modules) {
    if (__atomic_load_n(&module.slots_address, __ATOMIC_RELAXED) != address_of(start)) continue;
    __atomic_fetch_sub(&orders.module_slots, module.slot_count, __ATOMIC_RELAXED);
    __atomic_store_n(&module.slots_address, 0, __ATOMIC_SEQ_CST);
  }
  api::wait_for_its_end();
}

__attribute__((visibility("default"))) void stab_rt_code_load(const void* place) {
  using namespace stab;
  if (settings().code != abi::CodeMode::kOff && api::has_helper()) api::move_library(place);
}

__attribute__((visibility("default"))) void stab_rt_code_unload(const void* place) {
  using namespace stab;
  if (settings().code != abi::CodeMode::kOff && api::has_helper() && api::leave_library(place)) api::wait_for_its_end();
}

}  // extern "C"
