// One epoch: build an image off to the side, publish it by pointing every canonical entry to it, then retire the
// one before, so that frames still running in it call into the new one. At every moment in between each entry
// leads to one complete image or the other. Pads are drawn anew along with it.
#include <string.h>

#include "runtime/helper/orders.h"
#include "runtime/helper/replaced_text.h"
#include "runtime/helper/session.h"
#include "runtime/stack/fill.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// Below this many slots the ring grows without looking for one to reuse. The fewer slots in turn, the fewer pages
// and cache lines images pass through; the more, the rarer the looks at threads.
constexpr uint32_t kComfortableSlots = 8;
constexpr uint64_t kEpochsPerLook = 4;

void count_if_executed(Session& session, int slot) {
  uint8_t& flag = session.control->executed[slot];
  if (__atomic_exchange_n(&flag, uint8_t{0}, __ATOMIC_RELAXED) != 0) ++session.control->code.layouts_executed;
}

// Adds a slot and its memory. -1: the ring is at its limit, or there is no memory.
int grow(Session& session) {
  if (!session.images.ring.may_grow()) return -1;
  const uint64_t bytes = session.images.ring_offset + (session.images.ring.made() + uint64_t{1}) * session.images.slot_bytes;
  if (sys::truncate(session.images.memory_fd, bytes) != 0) {
    session.images.ring.set_limit(session.images.ring.made());
    return -1;
  }
  session.control->code.slots_made = session.images.ring.made() + 1;
  const int slot = session.images.ring.grow();
  populate(session.images.slot_memory(slot), session.images.used_bytes);
  return slot;
}

int choose_slot(Session& session) {
  const int slot = session.images.ring.free_slot();
  return slot >= 0 ? slot : grow(session);
}

// Puts a new image in place of the newest. False: there is no free slot, the present layout stays.
bool replace_image(Session& session) {
  Images& images = session.images;
  const int slot = choose_slot(session);
  if (slot < 0) return false;
  Control& control = *session.control;
  CodeDose& dose = control.code;
  const int old = images.ring.newest();
  // A slot that nobody can come back to is not entered any more: its flag is final.
  count_if_executed(session, slot);
  session.looks.threads.forget(code::SlotSet{1} << slot);
  session.looks.sampler.forget(code::SlotSet{1} << slot);
  session.looks.loops.forget(static_cast<uint32_t>(slot));

  const uint64_t started_ns = sys::monotonic_ns();
  code::ImagePlace& place = images.place;
  place.slot = images.slot_address(slot);
  place.executed = session.hello.control_address + offsetof(Control, executed) + static_cast<uint64_t>(slot);
  const uint32_t number = images.scratch.match.count > 0 ? session.layouts.passed : session.layouts.images_built;
  LayoutRng rng(session.hello.settings.seed, kRngCode, number);
  code::draw_levels(session.hello.settings.seed, number, images.scratch);
  images.image_bytes = static_cast<uint32_t>(code::build_image(
      images.code, images.original, place, session.hello.settings.code, rng, images.scratch, images.slot_memory(slot)));
  dose.image_bytes = images.image_bytes;
  const uint64_t built_ns = sys::monotonic_ns();
  code::publish(images.code, images.scratch, place, images.original, images.text_memory());
  lead_stayers(session, 0);
  session.looks.loops.arrive(images.code, static_cast<uint32_t>(slot), place, images.scratch, images.slot_memory(slot),
                             images.image_bytes);
  lead_loops(session);
  const uint64_t published_ns = sys::monotonic_ns();
  images.ring.publish(slot);
  session.layouts.image_in[slot] = session.layouts.image = number;
  if (old >= 0) code::retire(images.slot_memory(old));
  dose.layouts_built = ++session.layouts.images_built;
  dose.build_ns += built_ns - started_ns;
  dose.publish_ns += published_ns - built_ns;
  dose.retire_ns += sys::monotonic_ns() - published_ns;
  if (!images.perf_map.add(images.code, images.scratch, images.slot_memory(slot), place.slot))
    degrade(control, Degradation::kNoPerfMap);
  return true;
}

void refill_pads(Session& session) {
  if (session.pads == nullptr) return;
  StackDose& dose = session.control->stack;
  const uint64_t* const identities = session.pad_identities;
  const uint32_t number = identities != nullptr ? session.layouts.passed : session.layouts.refills;
  LayoutRng rng(session.hello.settings.seed, kRngStack, number);
  dose.slots_zeroed = identities != nullptr
                          ? fill_pads_by_identity(session.pads, session.hello.slot_count, identities, session.hello.settings, rng)
                          : fill_pads(session.pads, session.hello.slot_count, session.hello.settings, rng);
  refill_modules(session, rng);
  session.layouts.refill = number;
  dose.refills = ++session.layouts.refills;
}

// A layout that nobody has entered yet is as new as any other: while the program sits in a loop, sleeps or waits for a
// CPU, another image would only take a slot.
bool newest_was_entered(const Session& session) {
  const int newest = session.images.ring.newest();
  return newest < 0 || __atomic_load_n(&session.control->executed[newest], __ATOMIC_ACQUIRE) != 0;
}

// What a look finds depends on the moment, and so would the addresses of the images that follow: a run whose layouts change with
// its work is a function of its seed. Under valgrind there is nothing to see: the kernel's stacks and registers are valgrind's.
bool may_reuse(const Session& session) {
  return session.hello.settings.epoch_ns != 0 && !session.hello.settings.simulated && !session.images.at_home;
}

bool code_has_epochs(const Session& session) {
  const Images& images = session.images;
  return images.moves && !images.text_replaced && !images.at_home && abi::has_layouts(session.hello.settings.code);
}

// The heap watches the epoch's number: each advance is a new layout of it.
bool heap_has_epochs(const Session& session) {
  const abi::HeapMode mode = session.hello.settings.heap;
  return mode == abi::HeapMode::kPage || mode == abi::HeapMode::kShuffle;
}

void bump_epoch(Session& session) {
  ++session.layouts.epochs;
  __atomic_fetch_add(&session.control->epoch, uint64_t{1}, __ATOMIC_RELEASE);
}

// Looks at threads cost, one with all that there is to read a second: they get a share of the time.
bool is_within_share(const Session& session) {
  constexpr uint64_t kShareOfTime = 16;
  return sys::monotonic_ns() - session.looks.looked_ns >= session.looks.look_took_ns * kShareOfTime;
}

// The slot of the next epoch is sought now, when nothing waits for it; not in each epoch while the ring may still
// grow, since threads that just left an image are in the one before.
bool seeks_slot(const Session& session) {
  if (session.images.ring.made() < kComfortableSlots || session.images.ring.free_slot() >= 0) return false;
  if (session.looks.gave_up && !is_within_share(session)) return false;
  return !session.images.ring.may_grow() || session.control->epoch % kEpochsPerLook == 0;
}

// What stays in retired images has been there for a while, and a look costs a running thread some 10 us, and us a tenth
// of a millisecond for a few threads and more for many.
bool seeks_stayers(const Session& session) {
  constexpr uint64_t kBetweenLooksNs = 40'000'000;
  if (!session.images.moves || (session.images.code.header->flags & abi::kCodeSwitchesStacks) != 0) return false;
  return sys::monotonic_ns() - session.looks.looked_ns >= kBetweenLooksNs && is_within_share(session);
}

}  // namespace

bool has_epochs(const Session& session) {
  if (session.hello.settings.epoch_ns == 0) return false;
  return code_has_epochs(session) || session.pads != nullptr || heap_has_epochs(session);
}

bool build_first(Session& session) {
  refill_pads(session);
  if (session.images.moves) {
    session.images.moves = replace_image(session);
    if (!session.images.moves) degrade(*session.control, Degradation::kNoMemfd);
  }
  if (session.images.moves) session.control->code.functions_moved = session.images.scratch.order_count;
  bump_epoch(session);
  if (session.task.tells_epochs) {
    const bool counts = session.followed.is_there && session.images.moves;
    const code::LayoutScript* const script = counts ? &session.followed.script() : nullptr;
    session.layouts.log.begin(session.board, session.family.numbered ? session.hello.pid : 0, script, session.control->entries);
  }
  if (session.task.tells_samples) {
    session.samples.promise();
    if (session.images.moves && !session.samples.begin(session.family, session.images))
      degrade(*session.control, Degradation::kNoFunctionSamples);
  }
  record_epoch(session, 0);
  return session.images.moves;
}

void advance(Session& session, bool ordered) {
  // Before a slot is used again.
  session.samples.take(session.family, session.images);
  uint8_t flags = ordered ? kEpochOrdered : 0;
  if (code_has_epochs(session) && has_replaced_text(session)) {
    session.images.text_replaced = true;
    degrade(*session.control, Degradation::kTextReplaced);
    leave_replaced_text(session);
  }
  if (code_has_epochs(session)) {
    CodeDose& dose = session.control->code;
    if (!ordered && !newest_was_entered(session)) {
      ++dose.ticks_unentered;
      flags |= kEpochUnentered;
    } else if (!replace_image(session)) {
      degrade(*session.control, Degradation::kRingFull);
      ++dose.ticks_held;
      flags |= kEpochHeld;
    }
  }
  // After the image, which takes long to build, so that both change at once.
  refill_pads(session);
  bump_epoch(session);
  record_epoch(session, flags);
  // A map for perf knows no time: each address is to have one name only.
  if (session.images.perf_map.is_open()) return;
  if (session.images.moves) forget_gone_kin(session);
  if (!may_reuse(session)) return;
  if (seeks_slot(session) || seeks_stayers(session)) reclaim(session);
}

void go_home(Session& session) {
  Images& images = session.images;
  if (!images.moves || images.text_replaced || images.at_home) return;
  code::restore(images.code, images.scratch, images.original, images.text_memory());
  code::retire(images.slot_memory(images.ring.newest()));
  images.at_home = true;
}

void record_epoch(Session& session, uint8_t flags) {
  session.layouts.log.add(session.layouts.epochs, session.layouts.image, session.layouts.refill, session.images.ring.newest(),
                          flags, session.samples);
}

void count_executed(Session& session) {
  for (uint32_t slot = 0; slot < session.images.ring.made(); ++slot) count_if_executed(session, static_cast<int>(slot));
}

}  // namespace stab::helper
