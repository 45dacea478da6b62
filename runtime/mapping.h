// The program's half of the images' memory: where the executable lies, and what the helper's plan maps over and near it.
#pragma once

#include <stdint.h>

#include "runtime/helper/handshake_messages.h"

namespace stab {

inline constexpr uint64_t kPage = 4096;

inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
inline void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

// What the program headers say of this executable in memory.
struct Extent {
  uint64_t bias = 0;
  uint64_t low = ~uint64_t{0};  // of all segments
  uint64_t high = 0;
  bool text_relocations = false;
};

// False: the program headers can't be found.
bool find_extent(Extent& out);

// Maps the control block, the board and what `plan` asks for; `mapped` says what came of it, degradations why not.
// pre: the main thread is alone.
void map_planned(const Extent& extent, const helper::Hello& hello, const helper::Plan& plan, int images, int control_fd,
                 int board, helper::Mapped& mapped);

}  // namespace stab
