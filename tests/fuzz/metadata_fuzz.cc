// Feeds bytes as an executable, whose stab_code is sought, and as the section itself. What the check lets pass is built
// into images in every mode, published, retired and led on, in memory of exactly the size that was asked for.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/code/image.h"
#include "runtime/code/long_loops.h"
#include "runtime/code/metadata.h"
#include "runtime/code/pointers.h"
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

// A wish for each function that there is room for, as bind_script would leave it.
void make_script(const ImageScratch& scratch, LayoutScript& script) {
  script.rest_still = scratch.order_count % 2 == 0;
  for (uint32_t i = 0; i < scratch.order_count && i < kMostPlaced; ++i) {
    PlacedFunction& placed = script.placed[script.placed_count++];
    placed.function = scratch.order[scratch.order_count - 1 - i];
    placed.modulus = kLeastModulus << i % 8;
    placed.level_count = 2;
    placed.levels[1] = static_cast<uint16_t>(placed.modulus - kLevelGrain);
    if (i < kMostCounted) script.counted[script.counted_count++].function = scratch.order[i];
  }
}

void build_all(const Metadata& code, const Pointers& pointers, Memory& original, Memory& text, ImageScratch scratch,
               uint64_t slot, const LayoutScript* script) {
  if (scratch.order_count == 0) return;
  Memory images[2] = {Memory(slot), Memory(slot)};
  Stayers stayers;
  LongLoops loops;
  for (uint32_t i = 0; i < code.header->function_count; ++i) loops.follow(code, i);
  uint64_t number = 0;
  for (const abi::CodeMode mode :
       {abi::CodeMode::kCopy, abi::CodeMode::kOnce, abi::CodeMode::kShuffle, abi::CodeMode::kPad, abi::CodeMode::kDesign,
        abi::CodeMode::kDirect}) {
    uint8_t* const image = images[number % 2].bytes();
    uint8_t* const before = images[(number + 1) % 2].bytes();
    const ImagePlace place{0x540000000000 + number * slot, 0x1000, 0x555555554000, 0x555555554000, 0x540000800000};
    LayoutRng rng(7, 1, number);
    const uint32_t number_of_slot = static_cast<uint32_t>(number % 2);
    stayers.forget(SlotSet{1} << number_of_slot);
    loops.forget(number_of_slot);
    draw_levels(7, static_cast<uint32_t>(number), scratch);
    const uint64_t used = build_image(code, original.bytes(), place, mode, rng, scratch, image);
    if (used > slot) __builtin_trap();
    if (mode == abi::CodeMode::kDirect) lead_fields(code, pointers, place, scratch, image);
    for (uint32_t i = 0; script != nullptr && i < script->placed_count; ++i) {
      const PlacedFunction& placed = script->placed[i];
      const uint32_t level = level_of(placed, 7, static_cast<uint32_t>(number));
      if (scratch.body[placed.function] % placed.modulus != level + code.functions[placed.function].start % 16) __builtin_trap();
    }
    publish(code, scratch, place, original.bytes(), text.bytes());
    for (uint32_t i = 0; i < stayers.size(); ++i)
      lead_calls(code, stayers[i], 0x540000000000, place, scratch, original.bytes(), before);
    if (loops.size() > 0) {
      loops.arrive(code, number_of_slot, place, scratch, image, static_cast<uint32_t>(used));
      loops.lead(code, 1 - number_of_slot, 0x540000000000, place.slot + landings_at(static_cast<uint32_t>(used)), before);
    }
    ImageEntry entry;
    for (uint64_t at = 0; at < slot; at += slot / 64 + 1) (void)find_executed(image, static_cast<uint32_t>(at), entry);
    retire(image);
    for (uint64_t at = 0; at < used; at += used / 64 + 1)
      stayers.add(code, static_cast<uint32_t>(number % 2), image, static_cast<uint32_t>(at));
    ++number;
  }
}

void build(const Metadata& code, const Pointers& pointers) {
  constexpr uint64_t kMostText = 1 << 20, kMostSlot = 4 << 20;
  const uint64_t text_bytes = (code.header->text_bytes + 4095) / 4096 * 4096;
  const uint64_t slot = slot_bytes(code);
  if (slot == 0 || slot > kMostSlot || text_bytes == 0 || text_bytes > kMostText) return;
  Memory original(text_bytes), text(text_bytes), scratch_memory(scratch_bytes(code) + 8);
  for (uint64_t i = 0; i < text_bytes; ++i) original.bytes()[i] = static_cast<uint8_t>(i * 151 + i / 256);
  build_all(code, pointers, original, text, bind_scratch(code, scratch_memory.bytes()), slot, nullptr);
  // The same with functions that are placed and counted.
  LayoutScript script;
  Memory scripted_memory(scratch_bytes(code) + 8);
  ImageScratch scripted = bind_scratch(code, scripted_memory.bytes());
  make_script(scripted, script);
  follow_script(script, scripted);
  const uint64_t scripted_slot = slot_bytes(code, &script);
  if (scripted_slot != 0 && scripted_slot <= kMostSlot)
    build_all(code, pointers, original, text, scripted, scripted_slot, &script);
}

void read(const uint8_t* data, size_t size) {
  Memory section(size);
  if (size != 0) memcpy(section.bytes(), data, size);
  Metadata code;
  if (read_metadata(section.bytes(), size, code) != MetadataFault::kNone) return;
  Pointers pointers;
  const uint64_t in_front = pointers_at(*code.header);
  if ((code.header->flags & abi::kCodePointers) != 0 && in_front <= size)
    (void)read_pointers(code, section.bytes() + in_front, size - in_front, pointers);
  build(code, pointers);
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
