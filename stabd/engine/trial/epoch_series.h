// EpochSeries: what each epoch of a trial was and where its samples lay, from the helper's records to the store and out of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/helper/epoch_record.h"

namespace stab::engine {

inline constexpr size_t kMostScriptBytes = 64 * 1024;  // code::kMostScriptBytes

// Samples in a file other than the executable, as helper::LibraryHeader has them.
struct SampledFile {
  struct Function {
    std::string name;  // empty: its file says none
    uint64_t linked = 0;
    uint32_t bytes = 0;
    uint32_t newest = 0, older = 0, original = 0;
    uint64_t samples() const { return uint64_t{newest} + older + original; }
  };
  std::string file;  // "libfoo.so.1"
  bool moved = false;
  uint64_t text_hash = 0;
  std::string path;       // of one that moved, as it was mapped; empty: it was not told
  uint64_t drawn_by = 0;  // what its layouts are drawn by, with seed and image; 0: it was not told
  uint64_t newest = 0, older = 0, original = 0;  // of all, those in no function that is told included
  std::vector<Function> functions;
  uint64_t samples() const { return newest + older + original; }
};

// "libfoo.so.1!inflate": a function of a file other than the executable, for people; by its address where it has no name.
std::string name_in_file(const SampledFile& file, const SampledFile::Function& function);

// Where the program's CPU time was spent, by function. Indices are those of the functions that stab-layout lists.
// invariant: functions ascend, and all indices are below totals.function_count; names are printable. Of totals, what says how
// long the lists are and what begins with magic is not to be used.
struct FunctionProfile {
  helper::SampleHeader totals{};
  std::vector<helper::FunctionSamples> functions;
  std::vector<helper::StayedFunction> stayed;
  std::vector<SampledFile> files;
};

// invariant: starts don't descend; where there are records the last one, and no other, is the end (helper::kEpochEnd)
struct EpochSeries {
  std::vector<std::string> points;  // names of the first columns of visits; at most helper::kEpochPoints
  std::vector<helper::EpochRecord> records;
  uint64_t unrecorded = 0;  // layouts that came when the helper had no more room
  std::optional<FunctionProfile> profile;  // where samples were asked for
  // The layout script that the trial ran with, if any: with binary, seed and number of the image it is what a layout is computed
  // from. The helper doesn't tell it; the engine adds it.
  std::string script;
};

// From what follows a dose report. The helper is a process of the submitter's user, so its word is bounded like a stranger's.
// kCorrupt where it is none of a helper's.
Result<EpochSeries> parse_epochs(std::string_view bytes);

// For the store: version, points and count, then each field of each record as the zigzag varint of its difference to the record
// before, 20 to 30 bytes an epoch; then the script and the profile. What the versions before wrote is read, too.
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
  uint32_t samples_newest = 0, samples_older = 0, samples_elsewhere = 0;  // as EpochRecord has them
  uint8_t flags = 0;
};
std::vector<Epoch> epochs_of(const EpochSeries& series);
// "held", "unentered", "ordered": the flags of an epoch, in words, by commas.
std::string flag_words(uint8_t flags);

}  // namespace stab::engine
