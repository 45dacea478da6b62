// Images: the memory that code moves in, shared with the program, and what is needed to build an image there.
#pragma once

#include <stdint.h>

#include "runtime/code/image.h"
#include "runtime/code/ring.h"
#include "runtime/helper/perf_map.h"

namespace stab::helper {

// One memfd: the text as the program maps it over its own, pads, and the ring of slots. invariant: where `moves` holds, an image
// is published, and everything here is set
struct Images {
  bool moves = false;
  bool text_replaced = false;         // by the program: no further image would be entered
  bool at_home = false;               // its calls run originals again, as the program asked: there is no further image
  int memory_fd = -1;
  uint8_t* shared = nullptr;          // our writable view of it
  uint64_t text_offset = 0;
  uint64_t text_bytes = 0;            // whole pages
  uint64_t ring_offset = 0;
  uint64_t ring_address = 0;          // in the program
  uint64_t slot_bytes = 0;            // from one slot to the next
  uint64_t used_bytes = 0;            // of a slot, at most
  uint32_t image_bytes = 0;           // of the newest image

  code::Metadata code;
  const uint8_t* original = nullptr;  // a copy of the text's bytes in the file; whole pages
  code::ImagePlace place;             // slot and executed are set for each image
  code::ImageScratch scratch;
  code::Ring ring;
  PerfMap perf_map;

  uint8_t* slot_memory(int slot) { return shared + ring_offset + static_cast<uint64_t>(slot) * slot_bytes; }
  uint64_t slot_address(int slot) const { return ring_address + static_cast<uint64_t>(slot) * slot_bytes; }
  uint8_t* text_memory() { return shared + text_offset; }
};

}  // namespace stab::helper
