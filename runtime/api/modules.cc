// Shared libraries bring code and pads of their own. A constructor that the pass puts into each of them registers them
// here, a destructor takes them back, so that after dlclose nobody writes where something else may be mapped. What comes before
// the runtime begins is kept until then.
#include "runtime/api/modules.h"

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

// What a constructor asked for: pads or code.
struct Asked {
  uint32_t* start;
  uint32_t* stop;
  const abi::StackRecord* record;
  const void* place;
};

// What was asked before start(), which wants the main thread to be alone until then.
Asked early[2 * code::kMaxLibraries];
bool has_begun = false;

bool keep_until_begun(const Asked& asked) {
  if (has_begun) return false;
  for (Asked& entry : early) {
    if (entry.start != nullptr || entry.place != nullptr) continue;
    entry = asked;
    return true;
  }
  degrade(control(), Degradation::kLibrariesDropped);
  return true;
}

void forget_early(const uint32_t* start, const void* place) {
  for (Asked& entry : early)
    if (entry.start == start && entry.place == place) entry = {};
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

void load_code(const void* place) {
  if (settings().code != abi::CodeMode::kOff && has_helper()) move_library(place);
}

}  // namespace

void load_early() {
  has_begun = true;
  for (const Asked& asked : early)
    if (asked.place != nullptr)
      load_code(asked.place);
    else if (asked.start != nullptr)
      load_pads(asked.start, asked.stop, asked.record);
}

}  // namespace stab::api

extern "C" {

__attribute__((visibility("default"))) void stab_rt_module_load(uint32_t* start, uint32_t* stop,
                                                                const stab::abi::StackRecord* record) {
  if (!stab::api::keep_until_begun({start, stop, record, nullptr})) stab::api::load_pads(start, stop, record);
}

// Libraries of before stab_rt_module_load don't say what they read.
__attribute__((visibility("default"))) void stab_rt_module_begin(uint32_t* start, uint32_t* stop) {
  stab_rt_module_load(start, stop, &stab_stack);
}

__attribute__((visibility("default"))) void stab_rt_module_end(uint32_t* start) {
  using namespace stab;
  api::forget_early(start, nullptr);
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
  if (!stab::api::keep_until_begun({nullptr, nullptr, nullptr, place})) stab::api::load_code(place);
}

__attribute__((visibility("default"))) void stab_rt_code_unload(const void* place) {
  using namespace stab;
  api::forget_early(nullptr, place);
  if (settings().code != abi::CodeMode::kOff && api::has_helper() && api::leave_library(place)) api::wait_for_its_end();
}

}  // extern "C"
