// Shortfalls: what a linked program lacks for its layout to be randomized, as far as its file shows it: nothing in it moves,
// no function has a pad, its heap isn't ours. The trial's dose is held to the same (stabd/engine/trial/dose.h); what only a run
// shows, a malloc that comes with a library, is told there alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/factors.h"
#include "runtime/code_abi.h"

namespace stab::postlink {

// Functions of a program by what becomes of them, our runtime's left out.
struct Shares {
  uint32_t moving = 0;
  uint32_t foreign = 0;   // that our pass has not compiled, and that stay for this
  uint32_t assembly = 0;  // that stay as they may know their places
  uint32_t others = 0;    // that stay for another reason

  void count(abi::Immovable reason) {
    switch (reason) {
      case abi::Immovable::kRuntime: return;
      case abi::Immovable::kNo: ++moving; return;
      case abi::Immovable::kForeign: ++foreign; return;
      case abi::Immovable::kAssembly: ++assembly; return;
      default: ++others;
    }
  }
};

// Why nothing, empty where there is something. A library's code stays by design and its heap is its program's: both say nothing.
struct Shortfalls {
  std::string code, stack, heap;

  // Of the factors asked for, each with its name; empty: none.
  std::string text(const Factors& asked) const;
};

// Of a stripped file nothing is said of the heap.
Shortfalls find_shortfalls(const ElfImage& image, const Shares& shares);

}  // namespace stab::postlink
