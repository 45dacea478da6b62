// Frame descriptions of moved functions, for unwinders that ask the loader where a file's table lies and read that themselves:
// libgcc's since version 12, linked statically into a library. They take a function's start from the table and all else from
// the description, which counts from there, so a copy needs a row of its own in a table and nothing more.
//
// Each image ends with such a table of its functions: FrameHeader | FrameRow[] | u32 0 (no descriptions of its own) |
// u32 where in the slot the header lies.
#pragma once

#include <stdint.h>

#include "runtime/code/frame_header.h"
#include "runtime/code/metadata.h"

namespace stab::code {

// The executable's own table in its file.
struct FrameTable {
  uint64_t rows_offset = 0;
  uint64_t address = 0;  // link-time, of the header
  uint32_t count = 0;
};
// False: it has none, or of a kind that linkers don't write.
bool find_frame_table(ReadAt read_at, void* context, FrameTable& out);

// Which rows of it are of which function. Nothing of them is believed: they are copied.
struct MovedFrames {
  const FrameRow* rows = nullptr;
  const uint32_t* first = nullptr;  // by function: its first row
  const uint32_t* count = nullptr;  // by function: how many; 0 where it does not move
  uint32_t total = 0;               // over all functions
  uint64_t address = 0;             // FrameTable::address
};
// `rows` holds all of the table, `memory` two words for each function; both outlive the result.
MovedFrames bind_frames(const Metadata& code, const FrameTable& table, const FrameRow* rows, uint32_t* memory);

// Bytes at an image's end for so many rows, what aligns them included.
inline constexpr uint64_t frames_bytes(uint32_t rows) {
  return 3 + sizeof(FrameHeader) + uint64_t{rows} * sizeof(FrameRow) + 2 * sizeof(uint32_t);
}

}  // namespace stab::code
