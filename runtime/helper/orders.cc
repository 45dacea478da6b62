// The helper's half of runtime/api: see orders.h there for how the two stay out of each other's way.
#include "runtime/helper/orders.h"

#include <string.h>

#include "runtime/api/program_orders.h"
#include "runtime/helper/handshake.h"
#include "runtime/stack/fill.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

void begin(Session& session) {
  __atomic_store_n(&session.control->orders.advancing, kAdvancing, __ATOMIC_SEQ_CST);
  let_libraries_go(session);
}

void end(Orders& orders) {
  if (__atomic_exchange_n(&orders.advancing, kIdle, __ATOMIC_SEQ_CST) == kAdvancingAwaited)
    sys::futex_wake(&orders.advancing);
}

constexpr uint32_t kChunkSlots = 1024;

constexpr uint64_t kModuleStreams = uint64_t{1} << 62;  // of kRngStack; epochs count from 0, threads from 1 << 63

// Where the helper maps these bytes of a library's text itself; nullptr: nowhere. Some linkers put read-only data, and so the
// pads, onto the text's pages; where the code moves these are sealed, and nobody but this mapping writes them.
uint8_t* own_view_of(const Session& session, uint64_t address, uint64_t bytes) {
  const Libraries& all = session.images.libraries;
  for (uint32_t i = 0; i < all.count; ++i) {
    const Module& module = all.all[i].module;
    const uint64_t into = address - module.place.text;
    if (module.moves && into < module.text_bytes && bytes <= module.text_bytes - into) return module.text + into;
  }
  return nullptr;
}

// Adds to `held` the pads that stay 0. False: the library's memory can't be written (it is gone, or the kernel forbids it). The
// kernel moves no byte, and names no fault, where the program has ended or became another one: then there is nobody left to whom
// pads matter.
bool refill_module(const Session& session, uint64_t slots_address, uint32_t slot_count, LayoutRng& rng, uint32_t& held) {
  uint32_t chunk[kChunkSlots];
  for (uint32_t done = 0; done < slot_count; done += kChunkSlots) {
    const uint32_t left = slot_count - done;
    const uint32_t count = left < kChunkSlots ? left : kChunkSlots;
    const uint64_t address = slots_address + done * sizeof chunk[0];
    const long bytes = static_cast<long>(count * sizeof chunk[0]);
    // Read first: post-link's marks of recursive functions are in the slots.
    const long read = sys::pread(session.family.program.memory, chunk, static_cast<size_t>(bytes), address);
    if (read != bytes) return read == 0;
    held += fill_pads(chunk, count, session.hello.settings, rng);
    if (uint8_t* const own = own_view_of(session, address, static_cast<uint64_t>(bytes))) {
      memcpy(own, chunk, static_cast<size_t>(bytes));
      continue;
    }
    const long written = sys::pwrite(session.family.program.memory, chunk, static_cast<size_t>(bytes), address);
    if (written != bytes) return written == 0;
  }
  return true;
}

}  // namespace

void refill_modules(Session& session, LayoutRng& rng) {
  Orders& orders = session.control->orders;
  StackDose& dose = session.control->stack;
  uint32_t left = kMostPads, held = 0;
  for (const ModulePads& module : orders.modules) {
    const uint64_t slots_address = __atomic_load_n(&module.slots_address, __ATOMIC_SEQ_CST);
    if (slots_address <= kModuleTaken || __atomic_load_n(&module.pid, __ATOMIC_RELAXED) != session.family.program.pid) continue;
    const uint32_t slot_count = __atomic_load_n(&module.slot_count, __ATOMIC_RELAXED);
    if (slot_count > left || !refill_module(session, slots_address, slot_count, rng, held)) {
      degrade(*session.control, Degradation::kModulePads);
      continue;
    }
    left -= slot_count;
  }
  if (kMostPads - left < dose.library_slots) return;
  dose.library_slots = kMostPads - left;
  dose.library_slots_zeroed = held;
}

void advance_unless_paused(Session& session) {
  Orders& orders = session.control->orders;
  begin(session);
  if (__atomic_load_n(&orders.paused, __ATOMIC_SEQ_CST) == 0) advance(session);
  end(orders);
}

bool obey_orders(Session& session) {
  Orders& orders = session.control->orders;
  const uint32_t wanted = __atomic_load_n(&orders.layouts_wanted, __ATOMIC_SEQ_CST);
  const bool new_layout = wanted != orders.layouts_given;
  const uint32_t modules = __atomic_load_n(&orders.modules_wanted, __ATOMIC_SEQ_CST);
  const bool new_modules = modules != orders.modules_given;
  const bool home = __atomic_load_n(&orders.home_wanted, __ATOMIC_SEQ_CST) != 0 && orders.home_given == 0;
  begin(session);
  if (home) go_home(session);
  serve_library(session);
  if (new_layout) {
    if (session.hello.settings.epoch_ns == 0) ++session.use.ticks;
    ++session.layouts.passed;
    advance(session, true);
  }
  if (new_modules) {
    // A stream of its own: the streams of the epochs stay what they are, whatever is loaded.
    const uint64_t number = session.numbers_refills_by_epoch() ? session.layouts.passed : session.control->stack.refills;
    LayoutRng rng(session.hello.settings.seed, kRngStack, kModuleStreams | number);
    refill_modules(session, rng);
  }
  end(orders);
  if (home) {
    __atomic_store_n(&orders.home_given, 1u, __ATOMIC_SEQ_CST);
    sys::futex_wake(&orders.home_given);
  }
  if (new_modules) {
    __atomic_store_n(&orders.modules_given, modules, __ATOMIC_SEQ_CST);
    sys::futex_wake(&orders.modules_given);
  }
  if (!new_layout) return false;
  __atomic_store_n(&orders.layouts_given, wanted, __ATOMIC_SEQ_CST);
  sys::futex_wake(&orders.layouts_given);
  return true;
}

}  // namespace stab::helper
