// What a helper believes of what its program says. Pure: bytes in, decisions out.
//
// The program may be anybody's: what it sends is held against what the helper has made and against what addresses can be
// at all, once, here; the rest of the helper relies on that. What it says of itself and only itself uses (where its own
// pads lie, say) need not be true, only harmless.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/helper/handshake_messages.h"

namespace stab::helper {

// Slots of one module's pads, and of all that are drawn in one epoch: more than the functions of 2 GiB of text.
inline constexpr uint32_t kMostPads = 16u << 20;

// Reads a Hello. False: `out` is not to be used. `launched`: by our launcher, which asks for no map for perf.
bool read_hello(const void* bytes, size_t size, bool launched, Hello& out);

// What the helper has to put into the images' memory.
struct Wanted {
  bool code = false;
  bool pads = false;
  uint64_t text_start = 0;  // link-time address of the text; these three if code is wanted
  uint64_t text_bytes = 0;  // whole pages
  uint64_t slot_bytes = 0;  // whole pages, not 0
};

// Where each part comes to lie. False: what is wanted can't be, with this hello. pre: `hello` is from read_hello.
// `slots_offset` is that of the first pad in the memory, if there are any.
bool make_plan(const Hello& hello, const Wanted& wanted, Plan& plan, uint64_t& slots_offset);

// Whether this can be the address of a page of a program.
bool is_page(uint64_t address);

// How many images of a module are kept beside each other at most, by the bytes of a slot. pre: these are not 0
uint64_t most_slots(uint64_t slot_bytes);

// Whether a program that got this plan can have done what it says.
bool is_possible(const Mapped& mapped, const Plan& plan);

}  // namespace stab::helper
