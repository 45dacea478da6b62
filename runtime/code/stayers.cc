// Leading the calls of retired copies; stayers.h has the reason and the argument. Only bytes of a displacement that lie
// in one aligned word change, by one store: another core runs the call as it was or as it is.
#include "runtime/code/stayers.h"

#include <string.h>

namespace stab::code {
namespace {

// How many of a field's bytes lie in the aligned word that it begins in.
uint32_t bytes_in_word(uint32_t at) { return at % 8 <= 4 ? 4 : 8 - at % 8; }

// Stores those bytes. pre: the others don't change; `image` is a multiple of 8 away from where it executes.
void store_field(uint8_t* image, uint32_t at, uint32_t value) {
  uint8_t* const word = image + (at & ~7u);
  uint64_t bytes;
  memcpy(&bytes, word, 8);
  memcpy(reinterpret_cast<uint8_t*>(&bytes) + at % 8, &value, bytes_in_word(at));
  __atomic_store_n(reinterpret_cast<uint64_t*>(word), bytes, __ATOMIC_RELEASE);
}

// Leads a call whose field crosses an aligned 8 to the prefix of the copy that it calls, and that on to `arrival`.
void lead_through_prefix(uint8_t* image, uint32_t at, uint32_t slot, uint32_t arrival) {
  const uint32_t image_bytes = reinterpret_cast<const ImageHeader*>(image)->image_bytes;
  const uint32_t field = arch::get32(image + at);
  uint32_t prefix = arch::call_target(at, field);
  if (prefix >= image_bytes) return;
  if (arch::is_short_jump(image + prefix)) {
    // Still the entry, which is retired. The prefix is so near that the field's high bytes stay, but for a borrow.
    prefix -= arch::kPrefixBytes;
    const uint32_t nearer = field - arch::kPrefixBytes;
    if ((nearer ^ field) >> (8 * bytes_in_word(at)) == 0) store_field(image, at, nearer);
  }
  if (!arch::is_near_jump(image + prefix) || bytes_in_word(prefix + arch::kNearJumpField) != 4) return;
  store_field(image, prefix + arch::kNearJumpField, arrival - (slot + prefix + arch::kNearJumpBytes));
}

// Whether retire() has stored its jump over the call or jump whose field is at `at` of the body: the first instruction of a copy
// that is entered at its body. That one never runs again, and its field shares a byte with the jump that does.
bool is_under_retired_entry(const uint8_t* image, uint32_t body, uint32_t at) {
  return at < arch::kRetiredEntryBytes && arch::is_short_jump(image + body);
}

}  // namespace

bool Stayers::add(const Metadata& code, uint32_t slot, const uint8_t* image, uint32_t at) {
  ImageEntry entry;
  if (count_ == kMost || !find_original(image, at, entry)) return false;
  for (uint32_t i = 0; i < count_; ++i)
    if (all_[i].slot == slot && all_[i].body == entry.body) return false;
  const uint32_t function = function_at(code, entry.start);
  if (function == code.header->function_count) return false;
  all_[count_++] = {slot, function, entry.body};
  return true;
}

void Stayers::forget(SlotSet slots) {
  for (uint32_t i = 0; i < count_;) {
    if ((slots >> all_[i].slot & 1) != 0)
      all_[i] = all_[--count_];
    else
      ++i;
  }
}

void SeenCode::note(uint64_t address) {
  constexpr uint32_t kTries = 4;
  const uint32_t first = static_cast<uint32_t>((address * 0x9e3779b97f4a7c15u) >> 54);
  for (uint32_t i = 0; i < kTries; ++i) {
    uint64_t& place = at_[(first + i) % kPlaces];
    if (place == address) return;
    if (place != 0) continue;
    place = address;
    return;
  }
}

void SeenCode::clear() { memset(at_, 0, sizeof at_); }

void lead_calls(const Metadata& code, const Stayer& stayer, uint64_t slot, const ImagePlace& newest,
                const ImageScratch& scratch, const uint8_t* original, uint8_t* image) {
  const abi::CodeFunction& f = code.functions[stayer.function];
  const uint32_t text = static_cast<uint32_t>(newest.text);
  const uint32_t moved_by = static_cast<uint32_t>(slot) + stayer.body - (text + f.start);
  for (uint32_t i = 0; i < f.directed_count; ++i) {
    const abi::DirectedFixup& fixup = code.directed[f.first_directed + i];
    if (fixup.kind() != abi::FixupKind::kPcFunction || scratch.entry[fixup.target()] == 0) continue;
    if (is_under_retired_entry(image, stayer.body, fixup.at)) continue;
    const uint32_t arrival =
        static_cast<uint32_t>(newest.slot) + scratch.entry[fixup.target()] - arch::kPrefixBytes + arch::kPrefixArrival;
    const uint32_t at = stayer.body + fixup.at;
    if (bytes_in_word(at) == 4) {
      const uint32_t target_moved_by = arrival - (text + code.functions[fixup.target()].start);
      store_field(image, at, arch::get32(original + f.start + fixup.at) + target_moved_by - moved_by);
    } else {
      lead_through_prefix(image, at, static_cast<uint32_t>(slot), arrival);
    }
  }
}

}  // namespace stab::code
