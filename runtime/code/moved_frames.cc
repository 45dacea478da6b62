#include "runtime/code/moved_frames.h"

#include <elf.h>

#include "runtime/code/partition_point.h"

namespace stab::code {

bool find_frame_table(ReadAt read_at, void* context, FrameTable& out) {
  Elf64_Ehdr ehdr;
  if (!read_at(context, &ehdr, sizeof ehdr, 0) || ehdr.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (int i = 0; i < ehdr.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(context, &segment, sizeof segment, ehdr.e_phoff + static_cast<uint64_t>(i) * sizeof segment)) return false;
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    FrameHeader header;
    if (segment.p_filesz < sizeof header || !read_at(context, &header, sizeof header, segment.p_offset)) return false;
    if (!has_sorted_rows(header) || header.count > (segment.p_filesz - sizeof header) / sizeof(FrameRow)) return false;
    out = {segment.p_offset + sizeof header, segment.p_vaddr, header.count};
    return true;
  }
  return false;
}

MovedFrames bind_frames(const Metadata& code, const FrameTable& table, const FrameRow* rows, uint32_t* memory) {
  const uint32_t functions = code.header->function_count;
  uint32_t* const first = memory;
  uint32_t* const count = memory + functions;
  MovedFrames frames{rows, first, count, 0, table.address};
  // Of a function, from the header's start; the file is the program's, so its rows may be anything.
  const auto row_from = [&](uint64_t start) {
    const auto from_header = static_cast<int64_t>(code.header->text_start + start - table.address);
    return partition_point(table.count, [&](uint32_t i) { return rows[i].function < from_header; });
  };
  for (uint32_t i = 0; i < functions; ++i) {
    const abi::CodeFunction& f = code.functions[i];
    if (f.immovable != abi::Immovable::kNo) continue;
    first[i] = row_from(f.start);
    const uint32_t behind = row_from(uint64_t{f.start} + f.bytes);
    // Assembly may have several. Rows that aren't sorted are nobody's.
    if (behind < first[i] || behind - first[i] > f.bytes || behind - first[i] > table.count - frames.total) continue;
    count[i] = behind - first[i];
    frames.total += count[i];
  }
  return frames;
}

}  // namespace stab::code
