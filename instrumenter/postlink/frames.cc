// Reading .eh_frame and the exception tables (the Linux Standard Base, "Exception Frames"; the LSDA as GCC's
// unwind-pe.h and except.cc write it, which LLVM, GNAT and the D compilers share).
//
// The tables are the best witness of what a compiler thought a function to be: on x86-64 each function gets an
// entry of exactly its extent, hand-written assembly mostly none. Encodings that only hand-made tables use are not
// followed: such an entry counts as absent, and its function stays.
#include "instrumenter/postlink/frames.h"

#include <algorithm>
#include <optional>

namespace stab::postlink {
namespace {

// DW_EH_PE_*
constexpr uint8_t kOmit = 0xff, kIndirect = 0x80, kFormat = 0x0f, kApplication = 0x70, kPcRelative = 0x10;
enum : uint8_t {
  kAbsolute = 0, kUleb = 1, kUdata2 = 2, kUdata4 = 3, kUdata8 = 4,
  kSleb = 9, kSdata2 = 10, kSdata4 = 11, kSdata8 = 12
};

// Reads on from a place of a section, up to an end; after the first fault everything is 0 and good() is false.
class Cursor {
 public:
  Cursor(const Section& section, uint64_t address, uint64_t end_address)
      : section_(section), at_(address - section.header.sh_addr),
        end_(std::min<uint64_t>(end_address - section.header.sh_addr, section.bytes.size())) {
    good_ = at_ <= end_;
  }

  bool good() const { return good_; }
  bool at_end() const { return at_ >= end_; }
  uint64_t address() const { return section_.header.sh_addr + at_; }

  template <typename T>
  T take() {
    if (!good_ || sizeof(T) > end_ - at_) return fail(), T{};
    const T value = read_as<T>(section_.bytes.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80) || !good_) return value;
    }
  }

  uint64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte & 0x80 && good_) continue;
      if (shift < 64 && (byte & 0x40)) value |= ~uint64_t{0} << shift;
      return value;
    }
  }

  // A number in the format of `encoding`, whatever it is relative to.
  uint64_t number(uint8_t encoding) {
    switch (encoding & kFormat) {
      case kAbsolute: case kUdata8: case kSdata8: return take<uint64_t>();
      case kUleb: return uleb();
      case kUdata2: return take<uint16_t>();
      case kUdata4: return take<uint32_t>();
      case kSleb: return sleb();
      case kSdata2: return static_cast<uint64_t>(int64_t{take<int16_t>()});
      case kSdata4: return static_cast<uint64_t>(int64_t{take<int32_t>()});
      default: return fail(), 0;
    }
  }

  // An address; what it points to where it is indirect isn't read. 0 stays 0, which means none.
  uint64_t pointer(uint8_t encoding, bool position_independent) {
    const uint64_t place = address();
    const uint64_t value = number(encoding);
    if (value == 0 && (encoding & kApplication) == kPcRelative) return 0;
    if ((encoding & kApplication) == kPcRelative) return place + value;
    // Of a position-independent file the loader fills in absolute ones.
    if ((encoding & kApplication) != 0 || position_independent) return kUnreadable;
    return value;
  }

  void skip(uint64_t bytes) {
    if (!good_ || bytes > end_ - at_) return fail();
    at_ += bytes;
  }
  void fail() {
    good_ = false;
    at_ = end_;
  }

 private:
  const Section& section_;
  uint64_t at_, end_;
  bool good_;
};

// What entries share: a common information entry.
struct Common {
  uint8_t pointer_encoding = kAbsolute;
  uint8_t table_encoding = kOmit;
  uint64_t personality = 0;
  bool indirect = false;
  bool has_data = false;  // augmentation data with its length in front
};

class FrameReader {
 public:
  FrameReader(const ElfImage& image, const Section& section, std::vector<Frame>& frames)
      : image_(image), section_(section), frames_(frames) {}

  void read() {
    const uint64_t end = section_.header.sh_addr + section_.bytes.size();
    for (uint64_t at = section_.header.sh_addr; at < end;) {
      const auto entry = entry_at(at, end);
      if (!entry) return;
      if (entry->length != 0) take(*entry);
      at = entry->end;
    }
  }

 private:
  struct Entry {
    uint64_t body;  // of the word that tells what it is
    uint64_t end;
    uint64_t length;
  };

  // Of 32-bit lengths, which is what x86-64 has; a length of 0 ends one object's entries.
  std::optional<Entry> entry_at(uint64_t at, uint64_t end) const {
    Cursor cursor(section_, at, end);
    const auto length = cursor.take<uint32_t>();
    if (!cursor.good() || length > end - cursor.address()) return std::nullopt;
    return Entry{cursor.address(), cursor.address() + length, length};
  }

  void take(const Entry& entry) {
    Cursor cursor(section_, entry.body, entry.end);
    const auto distance = cursor.take<uint32_t>();
    if (!cursor.good() || distance == 0) return;  // a common one is read by those that refer to it
    if (distance > entry.body - section_.header.sh_addr) return;
    const auto common = common_at(entry.body - distance);
    if (!common) return;
    Frame frame{};
    frame.start = cursor.pointer(common->pointer_encoding, image_.position_independent());
    frame.bytes = cursor.number(common->pointer_encoding & kFormat);
    frame.personality = common->personality;
    frame.indirect = common->indirect;
    if (common->has_data) {
      const uint64_t data_bytes = cursor.uleb();
      if (common->table_encoding != kOmit) {
        if (data_bytes == 0) return;
        frame.exception_table = cursor.pointer(common->table_encoding, image_.position_independent());
        if (frame.exception_table != 0 && (common->table_encoding & kIndirect)) frame.exception_table = kUnreadable;
      }
    }
    // Entries of discarded functions begin at 0.
    if (cursor.good() && frame.start != kUnreadable && image_.in_text(frame.start) && frame.bytes != 0 &&
        frame.bytes <= image_.text_end() - frame.start)
      frames_.push_back(frame);
  }

  std::optional<Common> common_at(uint64_t at) {
    if (at == common_address_) return common_;
    common_address_ = at;
    common_ = read_common(at);
    return common_;
  }

  std::optional<Common> read_common(uint64_t at) const {
    const auto entry = entry_at(at, section_.header.sh_addr + section_.bytes.size());
    if (!entry) return std::nullopt;
    Cursor cursor(section_, entry->body, entry->end);
    if (cursor.take<uint32_t>() != 0) return std::nullopt;
    const auto version = cursor.take<uint8_t>();
    if (version != 1 && version != 3) return std::nullopt;
    std::string_view letters = letters_at(cursor);
    cursor.uleb();  // code and data alignment, return address
    cursor.sleb();
    version == 1 ? cursor.take<uint8_t>() : cursor.uleb();
    Common common;
    if (letters.empty()) return cursor.good() ? std::optional(common) : std::nullopt;
    if (letters.front() != 'z') return std::nullopt;
    common.has_data = true;
    cursor.uleb();
    for (const char letter : letters.substr(1)) {
      if (letter == 'R') {
        common.pointer_encoding = cursor.take<uint8_t>();
        if (common.pointer_encoding & kIndirect) return std::nullopt;
      } else if (letter == 'L') {
        common.table_encoding = cursor.take<uint8_t>();
      } else if (letter == 'P') {
        const auto encoding = cursor.take<uint8_t>();
        common.indirect = encoding & kIndirect;
        common.personality = cursor.pointer(encoding, image_.position_independent());
      } else if (letter != 'S' && letter != 'B') {
        return std::nullopt;
      }
    }
    return cursor.good() ? std::optional(common) : std::nullopt;
  }

  std::string_view letters_at(Cursor& cursor) const {
    const auto* begin = reinterpret_cast<const char*>(section_.bytes.data()) + (cursor.address() - section_.header.sh_addr);
    size_t length = 0;
    while (cursor.take<uint8_t>() != 0) ++length;
    return cursor.good() ? std::string_view(begin, length) : std::string_view("?");
  }

  const ElfImage& image_;
  const Section& section_;
  std::vector<Frame>& frames_;
  uint64_t common_address_ = UINT64_MAX;
  std::optional<Common> common_;
};

}  // namespace

std::vector<Frame> read_frames(const ElfImage& image) {
  std::vector<Frame> frames;
  for (const Section& section : image.sections())
    if (section.name == ".eh_frame" && section.allocated() && !section.bytes.empty())
      FrameReader(image, section, frames).read();
  std::stable_sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) { return a.start < b.start; });
  return frames;
}

const Frame* frame_at(std::span<const Frame> frames, uint64_t start) {
  const auto found = std::lower_bound(frames.begin(), frames.end(), start,
                                      [](const Frame& frame, uint64_t value) { return frame.start < value; });
  if (found == frames.end() || found->start != start) return nullptr;
  return found + 1 != frames.end() && (found + 1)->start == start ? nullptr : &*found;
}

bool pads_follow_start(const ElfImage& image, const Frame& frame) {
  if (frame.exception_table == 0) return true;
  const Section* section = frame.exception_table == kUnreadable ? nullptr : image.section_at(frame.exception_table);
  if (section == nullptr || section->bytes.empty()) return false;
  Cursor cursor(*section, frame.exception_table, section->header.sh_addr + section->bytes.size());
  // A start of landing pads of its own is an address, which no copy shifts.
  if (cursor.take<uint8_t>() != kOmit) return false;
  if (cursor.take<uint8_t>() != kOmit) cursor.uleb();
  const auto encoding = cursor.take<uint8_t>();
  const uint64_t bytes = cursor.uleb();
  if (!cursor.good() || (encoding & ~kFormat) != 0) return false;
  const uint64_t end = cursor.address() + bytes;
  while (cursor.good() && cursor.address() < end) {
    const uint64_t start = cursor.number(encoding);
    const uint64_t length = cursor.number(encoding);
    const uint64_t pad = cursor.number(encoding);
    cursor.uleb();  // what to do
    if (start > frame.bytes || length > frame.bytes - start || pad >= frame.bytes) return false;
  }
  return cursor.good() && cursor.address() == end;
}

}  // namespace stab::postlink
