// One epoch: build an image of each module off to the side, publish it by pointing every canonical entry to it, then retire the
// one before, so that frames still running in it call into the new one. At every moment in between each entry
// leads to one complete image or the other. Pads are drawn anew along with it.
#include <string.h>

#include "runtime/helper/direct_pointers.h"
#include "runtime/helper/orders.h"
#include "runtime/helper/replaced_text.h"
#include "runtime/helper/session.h"
#include "runtime/helper/switches.h"
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
  Images& images = session.images;
  if (!images.ring.may_grow()) return -1;
  const Module& program = images.program;
  const uint64_t bytes = images.ring_offset + (images.ring.made() + uint64_t{1}) * program.slot_bytes;
  if (program.moves && sys::truncate(images.memory_fd, bytes) != 0) {
    images.ring.set_limit(images.ring.made());
    return -1;
  }
  session.control->code.slots_made = images.ring.made() + 1;
  const int slot = images.ring.grow();
  for_each_moving(images, [slot](Module& module) { populate(module.slot_memory(slot), module.used_bytes); });
  return slot;
}

int choose_slot(Session& session) {
  const int slot = session.images.ring.free_slot();
  return slot >= 0 ? slot : grow(session);
}

// Of the image that is being made.
uint32_t number_of_next(const Session& session) {
  return session.images.program.scratch.match.count > 0 ? session.layouts.passed : session.layouts.images_built;
}

// What libraries' images are drawn by: the library's name, and a number as the executable's has.
LayoutRng rng_of(const Session& session, const Module& module, uint32_t number) {
  const uint64_t seed = session.hello.settings.seed;
  return module.is_library ? LayoutRng(seed, kRngLibrary, module.name + number) : LayoutRng(seed, kRngCode, number);
}

void build_image(Session& session, Module& module, int slot, uint32_t number) {
  code::ImagePlace& place = module.place;
  place.slot = module.slot_address(slot);
  place.executed = module.executed_address + static_cast<uint64_t>(slot);
  LayoutRng rng = rng_of(session, module, number);
  // A library may have come at any time, so its images don't depend on those before them.
  if (module.is_library) code::order_as_in_file(module.code, module.scratch);
  code::draw_levels(session.hello.settings.seed, number, module.scratch);
  module.image_bytes = static_cast<uint32_t>(code::build_image(module.code, module.original, place, session.hello.settings.code,
                                                               rng, module.scratch, module.slot_memory(slot)));
  if (!module.is_library) lead_pointers(session, slot);
}

// From now on whoever calls a function of the module comes to this image.
void publish_image(Session& session, Module& module) {
  code::publish(module.code, module.scratch, module.place, module.original, module.text);
  lead_stayers(module, 0);
  if (module.is_library) return;
  const uint32_t slot = static_cast<uint32_t>((module.place.slot - module.ring_address) / module.slot_bytes);
  session.looks.loops.arrive(module.code, slot, module.place, module.scratch, module.slot_memory(static_cast<int>(slot)),
                             module.image_bytes);
  lead_loops(session);
}

void name_for_perf(Session& session, Module& module, int slot) {
  if (!session.images.perf_map.add(module, slot)) degrade(*session.control, Degradation::kNoPerfMap);
}

// Puts new images in place of the newest. False: there is no free slot, the present layout stays.
bool replace_images(Session& session) {
  Images& images = session.images;
  const int slot = choose_slot(session);
  if (slot < 0) return false;
  CodeDose& dose = session.control->code;
  const int old = images.ring.newest();
  // A slot that nobody can come back to is not entered any more: its flag is final.
  count_if_executed(session, slot);
  session.looks.threads.forget(code::SlotSet{1} << slot);
  session.looks.sampler.forget(code::SlotSet{1} << slot);
  session.looks.clean_rounds.forget(code::SlotSet{1} << slot);
  session.looks.loops.forget(static_cast<uint32_t>(slot));

  const uint64_t started_ns = sys::monotonic_ns();
  const uint32_t number = number_of_next(session);
  for_each_moving(images, [&](Module& module) { build_image(session, module, slot, number); });
  dose.image_bytes = images.program.image_bytes;
  const uint64_t built_ns = sys::monotonic_ns();
  for_each_moving(images, [&](Module& module) { publish_image(session, module); });
  const uint64_t published_ns = sys::monotonic_ns();
  images.ring.publish(slot);
  session.layouts.image_in[slot] = session.layouts.image = number;
  if (old >= 0) for_each_moving(images, [old](Module& module) { code::retire(module.slot_memory(old)); });
  dose.layouts_built = ++session.layouts.images_built;
  dose.build_ns += built_ns - started_ns;
  dose.publish_ns += published_ns - built_ns;
  dose.retire_ns += sys::monotonic_ns() - published_ns;
  for_each_moving(images, [&](Module& module) { name_for_perf(session, module, slot); });
  return true;
}

// Pads lie between the text and what else a program may sum up with it.
bool are_pads_kept(const Session& session) {
  const uint64_t degradations = __atomic_load_n(&session.control->degradations, __ATOMIC_RELAXED);
  return (degradations >> static_cast<unsigned>(Degradation::kTextRead) & 1) != 0;
}

void refill_pads(Session& session) {
  if (are_pads_kept(session)) return;
  const bool has_libraries_pads = __atomic_load_n(&session.control->orders.module_slots, __ATOMIC_RELAXED) > 0;
  if (session.pads == nullptr && !has_libraries_pads) return;
  StackDose& dose = session.control->stack;
  const uint64_t* const identities = session.pad_identities;
  const uint32_t number = session.numbers_refills_by_epoch() ? session.layouts.passed : session.layouts.refills;
  LayoutRng rng(session.hello.settings.seed, kRngStack, number);
  const uint32_t slots = session.pads != nullptr ? session.hello.slot_count : 0;
  dose.slots_zeroed = identities != nullptr ? fill_pads_by_identity(session.pads, slots, identities, session.hello.settings, rng)
                                            : fill_pads(session.pads, slots, session.hello.settings, rng);
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

bool any_moves(Images& images) {
  bool any = false;
  for_each_moving(images, [&any](Module&) { any = true; });
  return any;
}

bool code_has_epochs(Session& session) {
  return any_moves(session.images) && !session.images.at_home && abi::has_layouts(session.hello.settings.code);
}

// Now, or when a library comes.
bool code_may_have_epochs(const Session& session) {
  const Images& images = session.images;
  const bool may_move = (images.program.moves && !images.program.text_replaced) || images.libraries.memory_fd >= 0;
  return may_move && !images.at_home && abi::has_layouts(session.hello.settings.code);
}

// Now, or when a library comes.
bool pads_may_have_epochs(const Session& session) {
  return session.pads != nullptr || (session.hello.may_load != 0 && abi::draws_pads(session.hello.settings.stack));
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
bool is_within_share(const Session& session, uint64_t took_ns, uint64_t share = 16) {
  return sys::monotonic_ns() - session.looks.looked_ns >= took_ns * share;
}

// The slot of the next epoch is sought now, when nothing waits for it; not in each epoch while the ring may still
// grow, since threads that just left an image are in the one before.
bool seeks_slot(const Session& session) {
  if (session.images.ring.made() < kComfortableSlots || session.images.ring.free_slot() >= 0) return false;
  if (session.looks.gave_up && !is_within_share(session, session.looks.look_took_ns)) return false;
  constexpr uint64_t kShareOfSearches = 8;
  if (session.looks.code_is_made && !is_within_share(session, session.looks.search_took_ns, kShareOfSearches)) return false;
  return !session.images.ring.may_grow() || session.control->epoch % kEpochsPerLook == 0;
}

// What stays in retired images has been there for a while, and a look costs a running thread some 10 us, and us a tenth
// of a millisecond for a few threads and more for many.
bool seeks_stayers(const Session& session) {
  constexpr uint64_t kBetweenLooksNs = 40'000'000;
  if (!session.images.moves || session.images.switches_stacks) return false;
  return sys::monotonic_ns() - session.looks.looked_ns >= kBetweenLooksNs && is_within_share(session, session.looks.look_took_ns);
}

}  // namespace

bool has_epochs(const Session& session) {
  if (session.hello.settings.epoch_ns == 0) return false;
  return code_may_have_epochs(session) || pads_may_have_epochs(session) || heap_has_epochs(session);
}

bool begin_module(Session& session, Module& module) {
  Images& images = session.images;
  const int newest = images.ring.newest();
  if (newest < 0) {
    images.moves = replace_images(session);
    return images.moves;
  }
  build_image(session, module, newest, session.layouts.image);
  publish_image(session, module);
  name_for_perf(session, module, newest);
  return true;
}

bool build_first(Session& session) {
  refill_pads(session);
  Images& images = session.images;
  if (images.program.moves) {
    images.program.moves = begin_module(session, images.program);
    if (!images.program.moves) degrade(*session.control, Degradation::kNoMemfd);
  }
  if (images.program.moves) session.control->code.functions_moved = images.program.scratch.order_count;
  bump_epoch(session);
  if (session.task.switches & kTellEpochs) {
    const bool counts = session.followed.is_there && images.program.moves;
    const code::LayoutScript* const script = counts ? &session.followed.script() : nullptr;
    session.layouts.log.begin(session.board, session.family.numbered ? session.hello.pid : 0, script, session.control->entries);
  }
  if (session.task.switches & kTellSamples) {
    session.samples.promise();
    if ((images.program.moves || images.libraries.memory_fd >= 0) && !session.samples.begin(session.family, images))
      degrade(*session.control, Degradation::kNoFunctionSamples);
  }
  record_epoch(session, 0);
  return images.moves;
}

void advance(Session& session, bool ordered) {
  // Before a slot is used again.
  session.samples.take(session.family, session.images);
  uint8_t flags = ordered ? kEpochOrdered : 0;
  if (code_has_epochs(session)) {
    for_each_moving(session.images, [&session](Module& module) {
      if (!has_replaced_text(session, module)) return;
      module.text_replaced = true;
      degrade(*session.control, Degradation::kTextReplaced);
      leave_replaced_text(session, module);
    });
  }
  if (code_has_epochs(session)) {
    CodeDose& dose = session.control->code;
    if (!ordered && !newest_was_entered(session)) {
      ++dose.ticks_unentered;
      flags |= kEpochUnentered;
    } else if (!replace_images(session)) {
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
  if (!images.moves || images.at_home) return;
  for_each_moving(images, [&images](Module& module) {
    code::restore(module.code, module.scratch, module.original, module.text);
    code::retire(module.slot_memory(images.ring.newest()));
  });
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
