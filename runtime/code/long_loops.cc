// Leading long loops; long_loops.h has the argument.
#include "runtime/code/long_loops.h"

#include <string.h>

#include "runtime/code/partition_point.h"

namespace stab::code {
namespace {

static_assert(abi::kNearPointBytes == arch::kNearJumpBytes && abi::kShortPointBytes == arch::kShortJumpBytes);

// Stores `count` bytes over those at `at`. pre: they lie in one aligned word, and the rest of that word doesn't change;
// `image` is a multiple of 8 away from where it executes.
void store(uint8_t* image, uint32_t at, const uint8_t* bytes, uint32_t count) {
  uint8_t* const word = image + (at & ~7u);
  uint64_t value;
  memcpy(&value, word, 8);
  memcpy(reinterpret_cast<uint8_t*>(&value) + at % 8, bytes, count);
  __atomic_store_n(reinterpret_cast<uint64_t*>(word), value, __ATOMIC_RELEASE);
}

const abi::LoopRecord* record_of(const Metadata& code, uint32_t function) {
  const uint32_t at = partition_point(code.loop_count, [&](uint32_t i) { return code.loops[i].function < function; });
  return at < code.loop_count && code.loops[at].function == function ? &code.loops[at] : nullptr;
}

}  // namespace

uint8_t room_for(const Metadata& code, const abi::LoopRecord& record) {
  uint32_t shorts = 0;
  for (uint32_t i = 0; i < record.point_count; ++i) shorts += abi::is_short_point(code.points[record.first_point + i]);
  const abi::CodeFunction& f = code.functions[record.function];
  return static_cast<uint8_t>(shorts == 0 ? 0 : abi::gap_of(f.start, f.bytes) + 8 * shorts);
}

LongLoops::Following LongLoops::refuse(uint32_t function, uint32_t Summary::* why, Following following) {
  for (uint32_t i = 0; i < refused_count_; ++i)
    if (refused_[i] == function) return following;
  if (refused_count_ == kMostRefused) return following;
  refused_[refused_count_++] = function;
  ++(summary_.*why);
  return following;
}

LongLoops::Following LongLoops::follow(const Metadata& code, uint32_t function) {
  for (uint32_t i = 0; i < count_; ++i)
    if (all_[i].record->function == function) return Following::kKnown;
  const abi::LoopRecord* const record = record_of(code, function);
  if (record == nullptr) return refuse(function, &Summary::no_loop, Following::kUnled);
  if (record->stay == abi::LoopStay::kHoldsTable) return refuse(function, &Summary::holds_table, Following::kUnled);
  if (record->point_count == 0) return refuse(function, &Summary::no_point, Following::kUnled);
  if (count_ == kMost || landings_ + record->point_count > kMostLandings)
    return refuse(function, &Summary::full, Following::kFull);
  all_[count_] = Followed{record, landings_, {}};
  landings_ += record->point_count;
  ++count_;
  ++summary_.functions;
  summary_.points += record->point_count;
  summary_.unled_branches += record->unled;
  return Following::kBegun;
}

void LongLoops::note_body(uint32_t function, uint32_t slot, uint32_t body) {
  for (uint32_t i = 0; i < count_; ++i)
    if (all_[i].record->function == function) all_[i].body[slot] = body;
}

void LongLoops::forget(uint32_t slot) {
  for (uint32_t i = 0; i < count_; ++i) all_[i].body[slot] = 0;
}

void LongLoops::arrive(const Metadata& code, uint32_t slot, const ImagePlace& place, const ImageScratch& scratch,
                       uint8_t* image, uint32_t image_bytes, uint32_t first) {
  const uint32_t landings = landings_at(image_bytes);
  for (uint32_t i = first; i < count_; ++i) {
    Followed& followed = all_[i];
    const abi::LoopRecord& record = *followed.record;
    const uint32_t body = scratch.body[record.function];
    followed.body[slot] = body;
    for (uint32_t k = 0; k < record.point_count; ++k) {
      const uint32_t offset = abi::point_offset(code.points[record.first_point + k]);
      const uint32_t at = landings + (followed.first_landing + k) * static_cast<uint32_t>(sizeof(Landing));
      const uint32_t address = static_cast<uint32_t>(place.slot) + at;
      Landing landing;
      arch::put_landing(landing.code, address, static_cast<uint32_t>(place.executed),
                        static_cast<uint32_t>(place.slot) + body + offset);
      landing.original = code.functions[record.function].start + offset;
      memcpy(image + at, &landing, sizeof landing);
    }
  }
}

void LongLoops::lead(const Metadata& code, uint32_t slot, uint64_t address, uint64_t newest_landings, uint8_t* image) const {
  for (uint32_t i = 0; i < count_; ++i) {
    const Followed& followed = all_[i];
    const abi::LoopRecord& record = *followed.record;
    const uint32_t body = followed.body[slot];
    if (body == 0) continue;
    const abi::CodeFunction& f = code.functions[record.function];
    uint32_t word = body + f.bytes + abi::gap_of(f.start, f.bytes);
    for (uint32_t k = 0; k < record.point_count; ++k) {
      const uint32_t point = code.points[record.first_point + k];
      const uint32_t at = body + abi::point_offset(point);
      const uint32_t landing =
          static_cast<uint32_t>(newest_landings) + (followed.first_landing + k) * static_cast<uint32_t>(sizeof(Landing));
      uint8_t jump[8] = {};
      if (!abi::is_short_point(point)) {
        arch::put_near_jump(jump, static_cast<uint32_t>(address) + at, landing);
        store(image, at, jump, abi::kNearPointBytes);
        continue;
      }
      arch::put_near_jump(jump, static_cast<uint32_t>(address) + word, landing);
      jump[arch::kNearJumpBytes] = static_cast<uint8_t>(f.bytes - abi::point_offset(point));
      memcpy(jump + arch::kNearJumpBytes + 1, &kWordMark, sizeof kWordMark);
      store(image, word, jump, sizeof jump);
      uint8_t to_word[abi::kShortPointBytes];
      arch::put_short_jump(to_word, word - at);
      store(image, at, to_word, sizeof to_word);
      word += 8;
    }
  }
}

}  // namespace stab::code
