// EpochSeries: what each epoch of a trial was, from the helper's records to the store and out of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/helper/epoch_record.h"

namespace stab::engine {

// invariant: starts don't descend; where there are records the last one, and no other, is the end (helper::kEpochEnd)
struct EpochSeries {
  std::vector<std::string> points;  // names of the first columns of visits; at most helper::kEpochPoints
  std::vector<helper::EpochRecord> records;
  uint64_t unrecorded = 0;  // layouts that came when the helper had no more room
};

// From what follows a dose report. The helper is a process of the submitter's user, so its word is bounded like a stranger's.
// kCorrupt where it is none of a helper's.
Result<EpochSeries> parse_epochs(std::string_view bytes);

// For the store: version, points and count, then each field of each record as the zigzag varint of its difference to the record
// before. 10 to 20 bytes an epoch.
std::string encode_epochs(const EpochSeries& series);
Result<EpochSeries> decode_epochs(std::string_view bytes);

// One epoch as people want it: the differences between its record and the next.
struct Epoch {
  uint32_t number = 0;
  uint32_t image = 0, refill = 0;  // helper::kNoImage: none
  int slot = 0;
  uint64_t start_ns = 0, wall_ns = 0;
  uint64_t cpu_ns = 0;
  bool cpu_known = false;
  std::array<uint64_t, helper::kEpochPoints> visits{};
  uint8_t flags = 0;
};
std::vector<Epoch> epochs_of(const EpochSeries& series);
// "held", "unentered", "ordered": the flags of an epoch, in words, by commas.
std::string flag_words(uint8_t flags);

}  // namespace stab::engine
