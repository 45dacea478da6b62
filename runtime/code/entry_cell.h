// EntryCell: where the calls of one counted function are added up (layout_script.h). In the control block, so near the images
// that their code reaches it.
#pragma once

#include <stdint.h>

namespace stab::code {

inline constexpr uint32_t kMostCounted = 8;

// One addition by a locked instruction for each call, on a line that nobody else writes. The program's to write: its own word.
struct alignas(64) EntryCell {
  uint64_t visits = 0;
};

}  // namespace stab::code
