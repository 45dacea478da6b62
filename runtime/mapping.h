// The program's half of the images' memory: where the executable lies, and what the helper's plan maps over and near it.
#pragma once

#include <elf.h>
#include <stdint.h>

#include "runtime/arch/arch.h"
#include "runtime/code/moved_library.h"
#include "runtime/helper/handshake_messages.h"

namespace stab {

using arch::kPage;

inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
inline void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

// What the program headers say of a loaded file.
struct Extent {
  uint64_t bias = 0;
  uint64_t low = ~uint64_t{0};  // of all segments
  uint64_t high = 0;
  bool text_relocations = false;
  bool has_loader = false;  // an executable: libraries may come
};

// Of this executable. False: the program headers can't be found.
bool find_extent(Extent& out);
// Of any file; `segments` as they are in memory.
Extent extent_of(uint64_t bias, const Elf64_Phdr* segments, int count);

// Maps the control block, the board and what `plan` asks for; `mapped` says what came of it, degradations why not.
// pre: the main thread is alone.
void map_planned(const Extent& extent, const helper::Hello& hello, const helper::Plan& plan, int images, int control_fd,
                 int board, int libraries, helper::Mapped& mapped);

// Whether map_planned has mapped the libraries' memory.
bool has_library_memory();
// Maps the ring of a library and the control block in its reach, then the text over its own, while other threads may be in it.
// False: nothing has changed, and there is a degradation. pre: has_library_memory()
bool map_library(const Extent& extent, code::LibraryMove& library);
// Of one that is gone.
void unmap_library_ring(const code::MovedLibrary& library);

}  // namespace stab
