// Images: the memory that code moves in, shared with the program, and what is needed to build images there.
#pragma once

#include <stdint.h>

#include "runtime/helper/libraries.h"
#include "runtime/helper/module.h"
#include "runtime/helper/perf_map.h"

namespace stab::helper {

// One memfd: the executable's text as the program maps it over its own, pads, and the ring of slots. Libraries have another.
// invariant: where `moves` holds, images of at least one module are published in the newest slot
struct Images {
  bool moves = false;
  bool at_home = false;           // calls run originals again, as the program asked: there is no further image
  bool switches_stacks = false;   // a module does: suspended stacks may hold return addresses, so no slot is used again
  int memory_fd = -1;
  uint8_t* shared = nullptr;      // our writable view of it
  uint64_t ring_offset = 0;

  code::Ring ring;
  PerfMap perf_map;
  Module program;
  ModuleMemory program_memory;
  Libraries libraries;
};

// Calls `each` with every module that has new images.
template <typename Each>
void for_each_moving(Images& images, Each each) {
  const auto moves = [](const Module& module) { return module.moves && !module.text_replaced; };
  if (moves(images.program)) each(images.program);
  for (uint32_t i = 0; i < images.libraries.count; ++i)
    if (moves(images.libraries.all[i].module)) each(images.libraries.all[i].module);
}

}  // namespace stab::helper
