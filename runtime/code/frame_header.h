// .eh_frame_hdr, the sorted table by which unwinders find the frame description of a function: of its many encodings the one
// that all linkers write. The Linux Standard Base's "Exception Frames" is its specification.
#pragma once

#include <stdint.h>

namespace stab::code {

inline constexpr uint8_t kData4 = 0x03;            // DW_EH_PE_udata4
inline constexpr uint8_t kRelative4 = 0x1b;        // DW_EH_PE_pcrel | sdata4
inline constexpr uint8_t kHeaderRelative4 = 0x3b;  // DW_EH_PE_datarel | sdata4

struct FrameHeader {
  uint8_t version = 1, frames_encoding = kRelative4, count_encoding = kData4, table_encoding = kHeaderRelative4;
  int32_t frames = 0;  // .eh_frame, from this field
  uint32_t count = 0;  // rows, which follow
};
static_assert(sizeof(FrameHeader) == 12);

// Both from the header's start; sorted by function.
struct FrameRow {
  int32_t function;
  int32_t description;
};

inline bool has_sorted_rows(const FrameHeader& header) {
  return header.version == 1 && header.frames_encoding == kRelative4 && header.count_encoding == kData4 &&
         header.table_encoding == kHeaderRelative4;
}

}  // namespace stab::code
