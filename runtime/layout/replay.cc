// The binary is a file of somebody's: its metadata passes the check that the helper's copy passes, and what is looked up beside
// it is bounded by the sections it is in.
#include "runtime/layout/replay.h"

#include <string.h>

#include "runtime/stack/fill.h"
#include "runtime/sys.h"

namespace stab::layout {
namespace {

constexpr uint64_t kMostBytes = 512u << 20;  // as the helper reads at most

bool read_at(void* context, void* to, size_t size, uint64_t offset) {
  return sys::pread_full(*static_cast<int*>(context), to, size, offset) == static_cast<long>(size);
}

// A copy of these bytes of the file. nullptr: the file is shorter, or they are more than kMostBytes.
uint8_t* read_part(int file, uint64_t offset, uint64_t bytes) {
  if (bytes == 0 || bytes > kMostBytes) return nullptr;
  void* memory = sys::map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(memory) || !read_at(&file, memory, bytes, offset)) return nullptr;
  return static_cast<uint8_t*>(memory);
}

}  // namespace

const char* read_binary(int file, Binary& out) {
  code::FileSpan span;
  if (!code::find_code_section(read_at, &file, span)) return "it has no code metadata; szc or stab-postlink makes them";
  const uint8_t* section = read_part(file, span.offset, span.bytes);
  if (section == nullptr) return "its code metadata can't be read";
  switch (code::read_metadata(section, span.bytes, out.code)) {
    case code::MetadataFault::kNone:
      break;
    case code::MetadataFault::kAbsent:
      return "its code metadata is of another version";
    case code::MetadataFault::kMalformed:
      return "its code metadata is malformed";
  }
  const abi::CodeHeader& header = *out.code.header;
  uint64_t offset = 0;
  if (!code::find_text(read_at, &file, header.text_start, offset)) return "its text is not where the metadata says";
  if (code::has_text_elsewhere(read_at, &file, header.text_start, header.text_bytes))
    return "its text is not where the metadata says";
  out.text = read_part(file, offset, header.text_bytes);
  if (out.text == nullptr) return "its text can't be read";
  const uint64_t from = header.function_count == 0 ? header.text_bytes : out.code.functions[0].start;
  if (abi::hash64(out.text + from, header.text_bytes - from) != header.text_hash)
    return "its text differs from what the metadata describes";
  if (!code::find_pads_section(read_at, &file, span) || span.bytes < sizeof(uint32_t)) return nullptr;
  out.pads = reinterpret_cast<uint32_t*>(read_part(file, span.offset, span.bytes));
  if (out.pads == nullptr) return "its pads can't be read";
  out.pads_address = span.address;
  out.pad_count = static_cast<uint32_t>(span.bytes / sizeof(uint32_t));
  return nullptr;
}

uint32_t count_frame_rows(int file, const code::Metadata& code) {
  code::FrameTable table;
  if (!code::find_frame_table(read_at, &file, table)) return 0;
  const uint8_t* const rows = read_part(file, table.rows_offset, table.count * sizeof(code::FrameRow));
  void* const memory = sys::map(nullptr, uint64_t{code.header->function_count + 1} * 2 * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS);
  if (rows == nullptr || !sys::is_address(memory)) return 0;
  return code::bind_frames(code, table, reinterpret_cast<const code::FrameRow*>(rows), static_cast<uint32_t*>(memory)).total;
}

uint32_t ImageSeries::place_next() {
  const uint32_t number = next_++;
  LayoutRng rng = library_ != 0 ? LayoutRng(seed_, kRngLibrary, library_ + number) : LayoutRng(seed_, kRngCode, number);
  if (library_ != 0) code::order_as_in_file(binary_.code, scratch_);
  code::draw_levels(seed_, number, scratch_);
  code::place_image(binary_.code, mode_, rng, scratch_);
  return number;
}

void refill(Binary& binary, const abi::Settings& settings, uint32_t refill) {
  LayoutRng rng(settings.seed, kRngStack, refill);
  if (binary.pad_identities != nullptr)
    fill_pads_by_identity(binary.pads, binary.pad_count, binary.pad_identities, settings, rng);
  else
    fill_pads(binary.pads, binary.pad_count, settings, rng);
}

bool match_pads(Binary& binary, const code::MatchTable& match) {
  if (binary.code.identities == nullptr || binary.pad_count == 0) return false;
  void* memory =
      sys::map(nullptr, uint64_t{binary.pad_count} * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(memory)) return false;
  auto* const identities = static_cast<uint64_t*>(memory);
  code::identities_of_pads(binary.code, binary.pad_count, identities);
  code::match_identities(match, identities, binary.pad_count);
  binary.pad_identities = identities;
  return true;
}

void find_pads(const Binary& binary, uint32_t* pad_of) {
  const abi::CodeHeader& header = *binary.code.header;
  const uint64_t pads_end = binary.pads_address + uint64_t{binary.pad_count} * sizeof(uint32_t);
  for (uint32_t i = 0; i < header.function_count; ++i) {
    const abi::CodeFunction& f = binary.code.functions[i];
    pad_of[i] = kNoPad;
    for_each_fixed(binary.code, f, [&](uint64_t at) {
      if (pad_of[i] != kNoPad) return;
      int32_t distance;
      memcpy(&distance, binary.text + f.start + at, sizeof distance);
      // The field ends its instruction: what reads a pad has no immediate.
      const uint64_t target = header.text_start + f.start + at + 4 + static_cast<uint64_t>(static_cast<int64_t>(distance));
      if (target < binary.pads_address || target >= pads_end || (target - binary.pads_address) % sizeof(uint32_t) != 0) return;
      pad_of[i] = static_cast<uint32_t>((target - binary.pads_address) / sizeof(uint32_t));
    });
  }
}

}  // namespace stab::layout
