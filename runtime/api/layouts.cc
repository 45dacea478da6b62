// Layouts on demand, pauses, and what a program may know of its dose (runtime/include/stab/stab.h).
#include <string.h>

#include "runtime/api/ask_helper.h"
#include "runtime/control.h"
#include "runtime/settings.h"
#include "runtime/simulator.h"
#include "stab/stab.h"

namespace stab::api {
namespace {

bool moves_code(abi::CodeMode mode) { return abi::has_layouts(mode); }

// Fixed once main runs.
bool changes_with_time() {
  return control().nonce != 0 && (abi::draws_pads(settings().stack) || moves_code(settings().code));
}

bool is_by_visits() { return settings().epoch_ns == 0; }

// valgrind keeps what it has translated, and sees nobody else's stores into code.
void forget_translations() {
  if (!is_simulated()) return;
  discard_translations(control().text_address, control().text_bytes);
  discard_translations(control().ring_address, control().ring_bytes);
}

// Returns when the next layout is in place. pre: has_helper()
bool order_layout() {
  Orders& orders = control().orders;
  const uint32_t wanted = __atomic_add_fetch(&orders.layouts_wanted, 1, __ATOMIC_SEQ_CST);
  if (!send_orders()) return false;
  const auto is_given = [wanted](uint32_t given) { return static_cast<int32_t>(given - wanted) >= 0; };
  const bool given = is_by_visits() ? wait_evenly_for(orders.layouts_given, wanted - 1, is_given)
                                    : wait_for(orders.layouts_given, is_given);
  forget_translations();
  return given;
}

}  // namespace
}  // namespace stab::api

extern "C" {

int stab_rt_active() { return stab::api::changes_with_time(); }

uint64_t stab_rt_epoch() {
  return stab::api::changes_with_time() ? __atomic_load_n(&stab::control().epoch, __ATOMIC_ACQUIRE) : 0;
}

int stab_rt_new_layout() {
  using namespace stab;
  if (!api::changes_with_time()) return STAB_ABSENT;
  if (!api::has_helper()) return STAB_UNAVAILABLE;
  return api::order_layout() ? STAB_OK : STAB_UNAVAILABLE;
}

int stab_rt_layout_visit() {
  using namespace stab;
  if (control().nonce == 0) return STAB_ABSENT;
  if (!api::has_helper()) return STAB_UNAVAILABLE;
  const uint64_t count = __atomic_add_fetch(&control().orders.visits, 1, __ATOMIC_RELAXED);
  const uint64_t every = settings().epoch_visits;
  if (every == 0 || count % every != 0) return STAB_OK;
  return api::order_layout() ? STAB_OK : STAB_UNAVAILABLE;
}

int stab_rt_pause() {
  using namespace stab;
  if (!api::changes_with_time()) return STAB_ABSENT;
  if (!api::has_helper()) return STAB_UNAVAILABLE;
  __atomic_fetch_add(&control().orders.paused, 1, __ATOMIC_SEQ_CST);
  return api::wait_until_idle() ? STAB_OK : STAB_UNAVAILABLE;
}

int stab_rt_resume() {
  using namespace stab;
  if (!api::changes_with_time()) return STAB_ABSENT;
  if (!api::has_helper()) return STAB_UNAVAILABLE;
  uint32_t& paused = control().orders.paused;
  uint32_t count = __atomic_load_n(&paused, __ATOMIC_SEQ_CST);
  do {
    if (count == 0) return STAB_NOT_BEGUN;
  } while (!__atomic_compare_exchange_n(&paused, &count, count - 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return STAB_OK;
}

int stab_rt_read_dose(stab_dose* dose, size_t bytes) {
  using namespace stab;
  if (dose == nullptr) return STAB_BAD_ARGUMENT;
  stab_dose now;
  memset(&now, 0, sizeof now);
  const Control& control = stab::control();
  now.layouts = stab_rt_epoch();
  now.code_layouts = peek(control.code.layouts_built);
  now.pad_refills = peek(control.stack.refills);
  now.functions = control.code.functions;
  now.functions_moved = control.code.functions_moved;
  now.pads = control.stack.slots + __atomic_load_n(&control.orders.module_slots, __ATOMIC_RELAXED);
  now.degraded = peek(control.degradations) != 0;
  now.heap_allocations = peek(control.heap.mallocs);
  // A program built with an older header knows less of it.
  memset(dose, 0, bytes);
  memcpy(dose, &now, bytes < sizeof now ? bytes : sizeof now);
  return control.nonce != 0 ? STAB_OK : STAB_ABSENT;
}

}  // extern "C"
