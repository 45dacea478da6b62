// Frames: what the unwind tables (.eh_frame) say of each function: its extent, and how its exceptions are handled.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instrumenter/postlink/elf_image.h"

namespace stab::postlink {

// A pointer of the tables whose encoding this reader doesn't follow.
inline constexpr uint64_t kUnreadable = UINT64_MAX;

struct Frame {
  uint64_t start;
  uint64_t bytes;
  uint64_t personality;       // address of the routine, or with `indirect` of the word that holds it; 0: none
  bool indirect;
  uint64_t exception_table;   // the language's data (LSDA); 0: none

  uint64_t end() const { return start + bytes; }
};

// Ascending by start. An entry that isn't understood is left out, and so is what follows it in a damaged table.
std::vector<Frame> read_frames(const ElfImage& image);

// The one frame that starts at `start`; nullptr if there is none or are several.
const Frame* frame_at(std::span<const Frame> frames, uint64_t start);

// Whether each landing pad in the frame's exception table lies inside the frame, counted from its start: then the unwinder,
// told that a copy starts elsewhere, finds the pads of the copy.
bool pads_follow_start(const ElfImage& image, const Frame& frame);

}  // namespace stab::postlink
