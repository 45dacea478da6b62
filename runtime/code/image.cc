// Building an image is two passes over the functions: place them all (order, padding), then copy each body and
// correct it by the rule of code_abi.h. It runs once an epoch in the helper, so it allocates nothing and checks
// nothing: metadata.cc has checked. Correcting a field is one addition (runtime/arch): images lie near everything that the
// program links to.
#include "runtime/code/image.h"

#include <string.h>

#include "runtime/code/long_loops.h"
#include "runtime/code/partition_point.h"
#include "runtime/round_up.h"

namespace stab::code {
namespace {

// Shuffled functions are followed by 0 to 3 lines of 16 bytes, so that the distance of two neighbours changes
// too; more would only spread the image over more pages.
constexpr uint32_t kShufflePads = 4;
constexpr uint32_t kPadGrain = 16;
// Mode pad: LLD's --randomize-section-padding inserts one alignment with this chance.
constexpr uint32_t kPadChance = 16;
// Where the first function starts: anywhere in a page.
constexpr uint32_t kStartRange = 4096;

// A wish: level / 16, modulus / 16, and the number of the counter from 1.
constexpr uint32_t kWishLevelMask = 0xff, kWishModulusShift = 8, kWishModulusMask = 0x1ff, kWishCounterShift = 20;
uint32_t modulus_of(uint32_t wish) { return (wish >> kWishModulusShift & kWishModulusMask) * kLevelGrain; }
uint32_t wished_level(uint32_t wish) { return (wish & kWishLevelMask) * kLevelGrain; }
uint32_t counter_of(uint32_t wish) { return wish >> kWishCounterShift; }

uint32_t table_entry_bytes(abi::TableKind kind) { return kind == abi::TableKind::kRelative32 ? 4 : 8; }

// Bytes between entry and body.
uint32_t front_bytes(const abi::CodeFunction& f, uint32_t body, uint32_t wish) {
  if (counter_of(wish) != 0) return arch::counted_front_bytes(body);
  return arch::front_bytes(body, (f.flags & abi::kFrontNop) != 0);
}

// Where a function is placed on a base, a multiple of 16, and where the copies of its tables begin.
void place_on(const Metadata& code, uint32_t index, uint32_t base, ImageScratch& scratch) {
  const abi::CodeFunction& f = code.functions[index];
  scratch.body[index] = base + f.start % 16;
  scratch.entry[index] = scratch.body[index] - front_bytes(f, scratch.body[index], scratch.wish[index]);
}

uint32_t place_tables(const Metadata& code, uint32_t index, uint32_t cursor, ImageScratch& scratch) {
  const abi::CodeFunction& f = code.functions[index];
  for (uint32_t k = f.first_table; k < f.first_table + f.table_count; ++k) {
    cursor = static_cast<uint32_t>(round_up(cursor, 8));
    scratch.table[k] = cursor;
    cursor += code.tables[k].entry_count * table_entry_bytes(code.tables[k].kind);
  }
  return cursor;
}

// A counted function's entry is longer, in every build that is told to count it.
uint32_t lead_of(const MatchRow& row, uint32_t function, const Metadata& code, const ImageScratch& scratch) {
  if (function == kNoFunction || counter_of(scratch.wish[function]) == 0) return row.lead;
  const uint32_t residue = code.functions[function].start % 16;
  const uint32_t counted = arch::kPrefixBytes + arch::counted_front_bytes(residue) - residue;
  return counted > row.lead ? counted : row.lead;
}

// The places of all functions and tables by the rows of the table: what is drawn, and where a row lies, is the same in each build
// that has the table. `order` is then that of this build's functions.
uint64_t place_rows(const Metadata& code, LayoutRng& rng, ImageScratch& scratch) {
  const uint32_t count = scratch.match.count;
  for (uint32_t i = 0; i < count; ++i) scratch.row_order[i] = i;
  for (uint32_t i = count; i > 1; --i) {
    const uint32_t k = rng.below(i);
    const uint32_t swapped = scratch.row_order[i - 1];
    scratch.row_order[i - 1] = scratch.row_order[k];
    scratch.row_order[k] = swapped;
  }
  uint32_t cursor = static_cast<uint32_t>(sizeof(ImageHeader) + count * sizeof(ImageEntry));
  cursor += rng.below(kStartRange / kPadGrain) * kPadGrain;
  uint32_t placed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const MatchRow& row = scratch.match.rows[scratch.row_order[i]];
    const uint32_t function = scratch.function_of[scratch.row_order[i]];
    const uint32_t base = static_cast<uint32_t>(round_up(cursor + lead_of(row, function, code, scratch), kPadGrain));
    if (function != kNoFunction) {
      place_on(code, function, base, scratch);
      scratch.order[placed++] = function;
    }
    cursor = base + row.bytes + rng.below(kShufflePads) * kPadGrain;
  }
  cursor = static_cast<uint32_t>(round_up(cursor, 64));
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t function = scratch.function_of[scratch.row_order[i]];
    if (function != kNoFunction) place_tables(code, function, cursor, scratch);
    cursor += scratch.match.rows[scratch.row_order[i]].table_bytes;
  }
  return cursor;
}

// The places of one function that begins at `cursor` at the earliest; returns its end.
uint32_t place_function(const Metadata& code, uint32_t index, uint32_t cursor, ImageScratch& scratch) {
  const abi::CodeFunction& f = code.functions[index];
  const uint32_t wish = scratch.wish[index];
  // Slots are pages, so that an offset's residue is the address's.
  const uint32_t modulus = modulus_of(wish) != 0 ? modulus_of(wish) : 16;
  const uint32_t residue = wished_level(wish) + f.start % 16;
  uint32_t body = static_cast<uint32_t>(round_up(cursor + arch::kPrefixBytes, modulus)) + residue;
  if (body >= cursor + arch::kPrefixBytes + modulus) body -= modulus;
  if (body - front_bytes(f, body, wish) < cursor + arch::kPrefixBytes) body += modulus;
  scratch.body[index] = body;
  scratch.entry[index] = body - front_bytes(f, body, wish);
  return body + f.bytes + scratch.room[index];
}

void write_table(const Metadata& code, const abi::CodeTable& table, uint32_t at, uint64_t body_address,
                 const ImagePlace& place, uint8_t* out) {
  const uint32_t* targets = code.targets + table.first_target;
  if (table.kind == abi::TableKind::kRelative32) {
    const uint32_t distance = static_cast<uint32_t>(body_address) - static_cast<uint32_t>(place.slot + at);
    for (uint32_t i = 0; i < table.entry_count; ++i) arch::put32(out + at + i * 4, distance + targets[i]);
    return;
  }
  for (uint32_t i = 0; i < table.entry_count; ++i) {
    const uint64_t target = body_address + targets[i];
    memcpy(out + at + i * 8, &target, 8);
  }
}

// X of the rule for a directed fix-up's target, modulo 2^32.
uint32_t shift_of(const Metadata& code, const abi::DirectedFixup& fixup, const ImagePlace& place,
                  const ImageScratch& scratch) {
  const uint32_t target = fixup.target();
  if (fixup.kind() == abi::FixupKind::kPcFunction) {
    if (scratch.entry[target] == 0) return 0;
    return static_cast<uint32_t>(place.slot + scratch.entry[target]) -
           static_cast<uint32_t>(place.text + code.functions[target].start);
  }
  return static_cast<uint32_t>(place.slot + scratch.table[target]) -
         static_cast<uint32_t>(place.bias + code.tables[target].address);
}

void write_function(const Metadata& code, uint32_t index, const uint8_t* text, const ImagePlace& place,
                    const ImageScratch& scratch, uint8_t* out) {
  const abi::CodeFunction& f = code.functions[index];
  const uint32_t entry = scratch.entry[index];
  const uint32_t body = scratch.body[index];
  const uint32_t original = static_cast<uint32_t>(place.text + f.start);
  const uint32_t moved_by = static_cast<uint32_t>(place.slot + body) - original;
  arch::put_prefix(out + entry - arch::kPrefixBytes, static_cast<uint32_t>(place.slot + entry - arch::kPrefixBytes), original,
                   static_cast<uint32_t>(place.executed), static_cast<uint32_t>(place.pointer_entries));
  if (const uint32_t counter = counter_of(scratch.wish[index]))
    arch::put_count(out + entry, place.slot + entry, place.entries + (counter - 1) * sizeof(EntryCell), body - entry);
  else
    arch::put_front(out + entry, body - entry);
  uint8_t* const copy = out + body;
  memcpy(copy, text + f.start, f.bytes);

  for_each_fixed(code, f, [copy, moved_by](uint64_t at) { arch::shift_field(copy + at, -moved_by); });
  for (uint32_t i = 0; i < f.directed_count; ++i) {
    const abi::DirectedFixup& fixup = code.directed[f.first_directed + i];
    const uint32_t own = fixup.kind() == abi::FixupKind::kAbsTable ? 0 : moved_by;
    arch::shift_field(copy + fixup.at, shift_of(code, fixup, place, scratch) - own);
  }
  for (uint32_t i = 0; i < f.table_count; ++i) {
    const uint32_t table = f.first_table + i;
    write_table(code, code.tables[table], scratch.table[table], place.slot + body, place, out);
  }
}

// The table of frame descriptions behind what an image uses so far; returns its end.
uint32_t write_frames(const Metadata& code, const ImagePlace& place, const ImageScratch& scratch, uint32_t used, uint8_t* out) {
  const MovedFrames& frames = scratch.frames;
  const uint32_t header_at = static_cast<uint32_t>(round_up(used, 4));
  const uint32_t header_address = static_cast<uint32_t>(place.slot) + header_at;
  // Of the original table, as it lies in the program.
  const uint32_t original_address = static_cast<uint32_t>(place.bias + frames.address);
  uint32_t at = header_at + static_cast<uint32_t>(sizeof(FrameHeader));
  if (frames.total > 0) {
    for (uint32_t i = 0; i < scratch.order_count; ++i) {
      const uint32_t index = scratch.order[i];
      const uint32_t start = static_cast<uint32_t>(code.header->text_start - frames.address) + code.functions[index].start;
      for (uint32_t k = 0; k < frames.count[index]; ++k, at += static_cast<uint32_t>(sizeof(FrameRow))) {
        const FrameRow& row = frames.rows[frames.first[index] + k];
        arch::put32(out + at, scratch.body[index] + (static_cast<uint32_t>(row.function) - start) - header_at);
        arch::put32(out + at + 4, static_cast<uint32_t>(row.description) + original_address - header_address);
      }
    }
  }
  FrameHeader header;
  header.frames = static_cast<int32_t>(at - header_at - offsetof(FrameHeader, frames));
  header.count = frames.total;
  memcpy(out + header_at, &header, sizeof header);
  arch::put32(out + at, 0);
  arch::put32(out + at + 4, header_at);
  return at + 8;
}

}  // namespace

size_t scratch_bytes(const Metadata& code) {
  return (size_t{code.header->function_count} * 4 + code.header->table_count) * sizeof(uint32_t) + code.header->function_count;
}

ImageScratch bind_scratch(const Metadata& code, void* memory) {
  ImageScratch scratch;
  const uint32_t count = code.header->function_count;
  scratch.order = static_cast<uint32_t*>(memory);
  scratch.body = scratch.order + count;
  scratch.entry = scratch.body + count;
  scratch.wish = scratch.entry + count;
  scratch.table = scratch.wish + count;
  scratch.room = reinterpret_cast<uint8_t*>(scratch.table + code.header->table_count);
  for (uint32_t i = 0; i < code.loop_count; ++i) scratch.room[code.loops[i].function] = room_for(code, code.loops[i]);
  order_as_in_file(code, scratch);
  return scratch;
}

namespace {

// What is placed comes last, so that its gaps move nobody of the rest, which is still.
void order_by_script(const LayoutScript& script, ImageScratch& scratch) {
  for (uint32_t i = 0; i < script.placed_count; ++i) {
    uint32_t at = 0;
    while (scratch.order[at] != script.placed[i].function) ++at;
    for (; at + 1 < scratch.order_count; ++at) scratch.order[at] = scratch.order[at + 1];
    scratch.order[scratch.order_count - 1] = script.placed[i].function;
  }
  scratch.still_count = scratch.order_count - script.placed_count;
}

}  // namespace

void order_as_in_file(const Metadata& code, ImageScratch& scratch) {
  scratch.order_count = 0;
  for (uint32_t i = 0; i < code.header->function_count; ++i)
    if (code.functions[i].immovable == abi::Immovable::kNo) scratch.order[scratch.order_count++] = i;
  if (scratch.script != nullptr && scratch.script->rest_still) order_by_script(*scratch.script, scratch);
}

bool is_counted(const ImageScratch& scratch, uint32_t function) { return counter_of(scratch.wish[function]) != 0; }

uint32_t table_bytes(const Metadata& code, uint32_t function) {
  const abi::CodeFunction& f = code.functions[function];
  uint64_t bytes = 0;
  for (uint32_t k = f.first_table; k < f.first_table + f.table_count; ++k)
    bytes += round_up(uint64_t{code.tables[k].entry_count} * table_entry_bytes(code.tables[k].kind), 8);
  return bytes < kMostMatchBytes ? static_cast<uint32_t>(bytes) : kMostMatchBytes + 8;
}

uint32_t lead_bytes(const abi::CodeFunction& function, uint32_t residue) {
  return arch::kPrefixBytes + front_bytes(function, residue, 0) - residue;
}

size_t match_scratch_bytes(const MatchTable& match) { return size_t{match.count} * 2 * sizeof(uint32_t); }

bool follow_match(const Metadata& code, const MatchTable& match, void* memory, ImageScratch& scratch) {
  if (code.identities == nullptr) return false;
  uint32_t* const row_order = static_cast<uint32_t*>(memory);
  uint32_t* const function_of = row_order + match.count;
  for (uint32_t i = 0; i < match.count; ++i) function_of[i] = kNoFunction;
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t function = scratch.order[i];
    const MatchRow needed = match_row(code, function, scratch.room[function]);
    const uint32_t row = match_row_of(match, needed.identity);
    if (row == match.count || function_of[row] != kNoFunction || !fits(needed, match.rows[row])) return false;
    function_of[row] = function;
  }
  scratch.match = match;
  scratch.row_order = row_order;
  scratch.function_of = function_of;
  return true;
}

uint64_t slot_bytes(const MatchTable& match, uint32_t frame_rows) {
  uint64_t bytes = sizeof(ImageHeader) + kStartRange + frames_bytes(frame_rows) + kLandingsBytes + 64 + 2 * arch::kPage;
  for (uint32_t i = 0; i < match.count; ++i) {
    const MatchRow& row = match.rows[i];
    bytes += sizeof(ImageEntry) + row.lead + 15 + uint64_t{row.bytes} + (kShufflePads - 1) * kPadGrain + row.table_bytes;
  }
  bytes = round_up(bytes + kMostCounted * uint64_t{arch::kPrefixBytes + arch::kCountBytes + 1}, arch::kPage);
  return bytes < (uint64_t{1} << 30) ? bytes : 0;
}

uint64_t slot_bytes(const Metadata& code, const LayoutScript* script, uint32_t frame_rows) {
  uint64_t bytes = sizeof(ImageHeader) + kStartRange + frames_bytes(frame_rows);
  for (uint32_t i = 0; i < code.header->function_count; ++i) {
    const abi::CodeFunction& f = code.functions[i];
    if (f.immovable != abi::Immovable::kNo) continue;
    bytes += sizeof(ImageEntry) + arch::kPrefixBytes + 32 + f.bytes + (kShufflePads - 1) * kPadGrain;
    for (uint32_t k = 0; k < f.table_count; ++k) {
      const abi::CodeTable& table = code.tables[f.first_table + k];
      bytes += 16 + uint64_t{table.entry_count} * table_entry_bytes(table.kind);
    }
  }
  if (script != nullptr) {
    for (uint32_t i = 0; i < script->placed_count; ++i) bytes += script->placed[i].modulus;
    bytes += script->counted_count * (arch::kCountBytes + 1);
  }
  for (uint32_t i = 0; i < code.loop_count; ++i) bytes += room_for(code, code.loops[i]);
  if (code.loop_count > 0) bytes += kLandingsBytes;
  bytes = round_up(bytes + 64, arch::kPage);
  return bytes < (uint64_t{1} << 30) ? bytes : 0;
}

void follow_script(const LayoutScript& script, ImageScratch& scratch) {
  scratch.script = &script;
  for (uint32_t i = 0; i < script.counted_count; ++i)
    scratch.wish[script.counted[i].function] |= (i + 1) << kWishCounterShift;
  if (script.rest_still) order_by_script(script, scratch);
}

uint64_t follow_identities(const Metadata& code, ImageScratch& scratch) {
  if (code.identities == nullptr || scratch.order_count == 0) return 0;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < scratch.order_count; ++i) bytes += arch::kPrefixBytes + code.functions[scratch.order[i]].bytes;
  uint32_t modulus = kLeastIdentityModulus;
  while (modulus < kMostModulus && modulus * 2 <= bytes / scratch.order_count) modulus *= 2;
  scratch.identities = code.identities;
  scratch.identity_modulus = modulus;
  return uint64_t{scratch.order_count} * modulus;
}

void draw_levels(uint64_t seed, uint32_t image, ImageScratch& scratch) {
  for (uint32_t i = 0; scratch.identities != nullptr && i < scratch.order_count; ++i) {
    const uint32_t function = scratch.order[i];
    // Low bits, so that a level modulo a smaller number is the same level.
    LayoutRng rng(seed, kRngIdentity, scratch.identities[function] + image * uint64_t{0x9e3779b97f4a7c15});
    const auto level = static_cast<uint32_t>(rng.next() % (scratch.identity_modulus / kLevelGrain));
    scratch.wish[function] = scratch.identity_modulus / kLevelGrain << kWishModulusShift | level;
  }
  if (scratch.script == nullptr) return;
  for (uint32_t i = 0; i < scratch.script->placed_count; ++i) {
    const PlacedFunction& placed = scratch.script->placed[i];
    uint32_t& wish = scratch.wish[placed.function];
    wish = counter_of(wish) << kWishCounterShift | placed.modulus / kLevelGrain << kWishModulusShift |
           level_of(placed, seed, image) / kLevelGrain;
  }
}

uint64_t place_image(const Metadata& code, abi::CodeMode mode, LayoutRng& rng, ImageScratch& scratch) {
  if (scratch.match.count > 0) return place_rows(code, rng, scratch);
  const bool shuffles =
      mode == abi::CodeMode::kShuffle || abi::has_one_layout(mode) || mode == abi::CodeMode::kDesign;
  const uint32_t still = scratch.still_count;
  // The order of the image before is as good a start for a shuffle as any other, and `copy` and `pad` never
  // leave the original one.
  if (shuffles) {
    for (uint32_t i = scratch.order_count; i > still + 1; --i) {
      const uint32_t k = still + rng.below(i - still);
      const uint32_t swapped = scratch.order[i - 1];
      scratch.order[i - 1] = scratch.order[k];
      scratch.order[k] = swapped;
    }
  }

  uint32_t cursor = static_cast<uint32_t>(sizeof(ImageHeader) + scratch.order_count * sizeof(ImageEntry));
  if (mode != abi::CodeMode::kCopy && still == 0) cursor += rng.below(kStartRange / kPadGrain) * kPadGrain;
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t index = scratch.order[i];
    cursor = place_function(code, index, cursor, scratch);
    if (shuffles && i >= still) cursor += rng.below(kShufflePads) * kPadGrain;
    if (mode == abi::CodeMode::kPad && rng.below(kPadChance) == 0) cursor += kPadGrain;
  }
  cursor = static_cast<uint32_t>(round_up(cursor, 64));
  for (uint32_t i = 0; i < scratch.order_count; ++i) cursor = place_tables(code, scratch.order[i], cursor, scratch);
  return cursor;
}

uint64_t build_image(const Metadata& code, const uint8_t* text, const ImagePlace& place, abi::CodeMode mode,
                     LayoutRng& rng, ImageScratch& scratch, uint8_t* out) {
  const uint32_t used = static_cast<uint32_t>(place_image(code, mode, rng, scratch));
  // Every offset is known from here on.
  ImageEntry* const entries = reinterpret_cast<ImageEntry*>(out + sizeof(ImageHeader));
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t index = scratch.order[i];
    entries[i] = {scratch.entry[index] - arch::kPrefixBytes, scratch.body[index], code.functions[index].start,
                  code.functions[index].bytes};
  }
  for (uint32_t i = 0; i < scratch.order_count; ++i)
    write_function(code, scratch.order[i], text, place, scratch, out);
  const uint32_t end = write_frames(code, place, scratch, used, out);
  const ImageHeader header{kImageMagic, scratch.order_count, end};
  memcpy(out, &header, sizeof header);
  return end;
}

void publish(const Metadata& code, const ImageScratch& scratch, const ImagePlace& place, const uint8_t* original,
             uint8_t* text) {
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t index = scratch.order[i];
    const uint32_t start = code.functions[index].start;
    const uint32_t arrival = static_cast<uint32_t>(place.slot) + scratch.entry[index] - arch::kPrefixBytes + arch::kPrefixArrival;
    uint8_t patched[8];
    memcpy(patched, original + (start & ~7u), 8);
    arch::put_near_jump(patched + (start & 7), static_cast<uint32_t>(place.text + start), arrival);
    uint64_t value;
    memcpy(&value, patched, 8);
    __atomic_store_n(reinterpret_cast<uint64_t*>(text + (start & ~7u)), value, __ATOMIC_RELEASE);
  }
}

void restore(const Metadata& code, const ImageScratch& scratch, const uint8_t* original, uint8_t* text) {
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t word = code.functions[scratch.order[i]].start & ~7u;
    uint64_t value;
    memcpy(&value, original + word, sizeof value);
    __atomic_store_n(reinterpret_cast<uint64_t*>(text + word), value, __ATOMIC_RELEASE);
  }
}

const uint8_t* frames_of(const uint8_t* image) {
  ImageHeader header;
  memcpy(&header, image, sizeof header);
  return header.magic == kImageMagic ? image + arch::get32(image + header.image_bytes - 4) : nullptr;
}

void retire(uint8_t* image) {
  const ImageHeader* header = reinterpret_cast<const ImageHeader*>(image);
  const ImageEntry* entries = reinterpret_cast<const ImageEntry*>(image + sizeof *header);
  for (uint32_t i = 0; i < header->entry_count; ++i) arch::retire_entry(image + entries[i].prefix + arch::kPrefixBytes);
}

namespace {

// The last function that begins at `at` or in front of it; none: there is none, or no image.
const ImageEntry* entry_before(const uint8_t* image, uint32_t at) {
  const ImageHeader* header = reinterpret_cast<const ImageHeader*>(image);
  if (header->magic != kImageMagic) return nullptr;
  const ImageEntry* entries = reinterpret_cast<const ImageEntry*>(image + sizeof *header);
  const uint32_t behind = partition_point(header->entry_count, [&](uint32_t i) { return entries[i].prefix <= at; });
  return behind == 0 ? nullptr : entries + behind - 1;
}

bool holds(const ImageEntry& entry, uint32_t at) { return at < uint64_t{entry.body} + entry.bytes; }

}  // namespace

bool find_original(const uint8_t* image, uint32_t at, ImageEntry& out) {
  const ImageEntry* entry = entry_before(image, at);
  if (entry == nullptr || !holds(*entry, at)) return false;
  out = *entry;
  return true;
}

bool find_executed(const uint8_t* image, uint32_t at, ImageEntry& out) {
  const ImageEntry* const before = entry_before(image, at);
  if (before == nullptr) return false;
  out = *before;
  if (holds(*before, at)) return true;
  const ImageHeader* header = reinterpret_cast<const ImageHeader*>(image);
  const uint32_t landings = landings_at(header->image_bytes);
  if (at >= landings && at - landings < kLandingsBytes) {
    Landing landing;
    memcpy(&landing, image + landings + (at - landings) / sizeof landing * sizeof landing, sizeof landing);
    // What is sorted by its place in the image is not by its original's.
    const ImageEntry* const entries = reinterpret_cast<const ImageEntry*>(image + sizeof *header);
    for (uint32_t i = 0; i < header->entry_count; ++i) {
      if (landing.original - entries[i].start >= entries[i].bytes) continue;
      out = entries[i];
      out.body = at - (landing.original - out.start);
      return true;
    }
    return false;
  }
  // A word behind the function.
  if (at % 8 != 0 || at + 8 > header->image_bytes || !arch::is_near_jump(image + at)) return false;
  uint16_t mark;
  memcpy(&mark, image + at + arch::kNearJumpBytes + 1, sizeof mark);
  const uint8_t from_end = image[at + arch::kNearJumpBytes];
  if (mark != kWordMark || from_end > out.bytes) return false;
  out.body = at - (out.bytes - from_end);
  return true;
}

bool find_returned_to(const uint8_t* image, uint32_t at, ImageEntry& out) {
  const ImageEntry* const first = reinterpret_cast<const ImageEntry*>(image + sizeof(ImageHeader));
  const ImageEntry* ended = entry_before(image, at);
  if (ended == nullptr) return false;
  if (at == ended->prefix && ended != first) --ended;
  if (at != ended->body + ended->bytes || !arch::is_behind_call(image + at)) return find_executed(image, at, out);
  out = *ended;
  return true;
}

}  // namespace stab::code
