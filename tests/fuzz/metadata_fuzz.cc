// Feeds bytes as an executable, whose stab_code is sought, and as the section itself. What the check lets pass is built
// into images in every mode, published, retired and led on, in memory of exactly the size that was asked for.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/code/image.h"
#include "runtime/code/metadata.h"
#include "runtime/code/stayers.h"

namespace {

using namespace stab;
using namespace stab::code;

struct File {
  const uint8_t* data;
  size_t size;
};

bool read_at(void* context, void* to, size_t size, uint64_t offset) {
  const File& file = *static_cast<const File*>(context);
  if (offset > file.size || size > file.size - offset) return false;
  memcpy(to, file.data + offset, size);
  return true;
}

// 8-aligned, and nothing of ours behind it.
struct Memory {
  explicit Memory(size_t bytes) : words(new uint64_t[(bytes + 7) / 8]()) {}
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(words.get()); }
  std::unique_ptr<uint64_t[]> words;
};

void build(const Metadata& code) {
  constexpr uint64_t kMostText = 1 << 20, kMostSlot = 4 << 20;
  const uint64_t text_bytes = (code.header->text_bytes + 4095) / 4096 * 4096;
  const uint64_t slot = slot_bytes(code);
  if (slot == 0 || slot > kMostSlot || text_bytes == 0 || text_bytes > kMostText) return;
  Memory original(text_bytes), text(text_bytes), scratch_memory(scratch_bytes(code) + 8);
  for (uint64_t i = 0; i < text_bytes; ++i) original.bytes()[i] = static_cast<uint8_t>(i * 151 + i / 256);
  ImageScratch scratch = bind_scratch(code, scratch_memory.bytes());
  if (scratch.order_count == 0) return;
  Memory images[2] = {Memory(slot), Memory(slot)};
  Stayers stayers;
  uint64_t number = 0;
  for (const abi::CodeMode mode : {abi::CodeMode::kCopy, abi::CodeMode::kOnce, abi::CodeMode::kShuffle, abi::CodeMode::kPad}) {
    uint8_t* const image = images[number % 2].bytes();
    uint8_t* const before = images[(number + 1) % 2].bytes();
    const ImagePlace place{0x540000000000 + number * slot, 0x1000, 0x555555554000, 0x555555554000};
    LayoutRng rng(7, 1, number);
    stayers.forget(SlotSet{1} << number % 2);
    const uint64_t used = build_image(code, original.bytes(), place, mode, rng, scratch, image);
    if (used > slot) __builtin_trap();
    publish(code, scratch, place, original.bytes(), text.bytes());
    for (uint32_t i = 0; i < stayers.size(); ++i)
      lead_calls(code, stayers[i], 0x540000000000, place, scratch, original.bytes(), before);
    retire(image);
    for (uint64_t at = 0; at < used; at += used / 64 + 1)
      stayers.add(code, static_cast<uint32_t>(number % 2), image, static_cast<uint32_t>(at));
    ++number;
  }
}

void read(const uint8_t* data, size_t size) {
  Memory section(size);
  if (size != 0) memcpy(section.bytes(), data, size);
  Metadata code;
  if (read_metadata(section.bytes(), size, code) == MetadataFault::kNone) build(code);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  File file{data, size};
  FileSpan span;
  if (find_code_section(read_at, &file, span) && span.offset < size)
    read(data + span.offset, std::min<uint64_t>(span.bytes, size - span.offset));
  else
    read(data, size);
  return 0;
}
