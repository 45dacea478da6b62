// Draws the pads of one epoch. Runs in the helper process, on its writable mapping of stab_pads, while the
// program reads the slots: each is one aligned 4-byte store, so an activation sees an old or a new pad.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/layout_rng.h"
#include "runtime/sections_abi.h"
#include "runtime/settings_abi.h"

namespace stab {

// A slot with `bits` for its pad. True: it was held at 0 by post-link's mark.
inline bool fill_pad(uint32_t& slot, uint32_t bits, const abi::Settings& settings) {
  const uint32_t range_mask = settings.stack_range_bytes - 16;  // 4096: kPadMask
  const uint32_t flags = slot & ~abi::kPadMask;
  const bool is_held_recursion = (flags & abi::kPadRecursive) != 0 && settings.stack != abi::StackMode::kRecursive;
  const bool hold = (flags & abi::kPadHeld) != 0 || is_held_recursion;
  __atomic_store_n(&slot, flags | (abi::draws_pads(settings.stack) && !hold ? (bits << 4) & range_mask : 0), __ATOMIC_RELAXED);
  return hold;
}

// Writes all slots anew and keeps their flags. `zero` and `off` write pads of 0; `on` draws uniform multiples of
// 16 below the range, 0 for recursive functions; `recursive` draws for those, too. Slots that are held stay 0.
// Returns how many slots were held at 0 because their function is recursive, or all of the program's are held.
inline uint32_t fill_pads(uint32_t* slots, uint32_t count, const abi::Settings& settings, LayoutRng& rng) {
  uint32_t held = 0;
  uint64_t bits = 0;  // one draw serves eight slots of 8 bits each; a function's share does not depend on others'
  for (uint32_t i = 0; i < count; ++i, bits >>= 8) {
    if (i % 8 == 0) bits = rng.next();
    held += fill_pad(slots[i], static_cast<uint32_t>(bits), settings);
  }
  return held;
}

// The same, where a slot's pad is that of its function, by identity, in whichever build of the program.
inline uint32_t fill_pads_by_identity(uint32_t* slots, uint32_t count, const uint64_t* identities, const abi::Settings& settings,
                                      LayoutRng& rng) {
  uint32_t held = 0;
  const uint64_t key = rng.next();
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t state = key ^ identities[i];
    held += fill_pad(slots[i], static_cast<uint32_t>(LayoutRng::mix(state) >> 32), settings);
  }
  return held;
}

}  // namespace stab
