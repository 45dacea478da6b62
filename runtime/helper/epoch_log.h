// EpochLog: the records of a helper's epochs, kept until the program has ended, and what the program has done so far.
#pragma once

#include <stdint.h>

#include "runtime/code/layout_script.h"
#include "runtime/helper/epoch_record.h"
#include "runtime/helper/sampled_functions.h"
#include "runtime/progress/board.h"

namespace stab::helper {

class EpochLog {
 public:
  // Reserves memory, of which pages exist once they are written. Without it nothing is recorded.
  // script: its counted functions are told first, from `entries`; nullptr: there are none. board may be nullptr.
  void begin(const progress::Board* board, int pid, const code::LayoutScript* script, const code::EntryCell* entries);
  bool is_on() const { return records_ != nullptr; }

  // Now. The last one is to have kEpochEnd.
  void add(uint32_t epoch, uint32_t image, uint32_t refill, int slot, uint8_t flags, const SampledFunctions& samples);

  // When to tell again what the program has done.
  uint64_t tells_at_ns() const { return tells_at_ns_; }
  // Into a pipe that has room; else, and where no point was visited yet, nothing.
  void tell_progress(int fd);

  // Behind what was written there before. Blocks until somebody has read it.
  // An image that came into an epoch that had none, as with the first library of a host.
  void note_image(uint32_t image, int slot);
  void write_to(int fd) const;

 private:
  void find_points();
  void read_visits(uint64_t (&to)[kEpochPoints]);
  void write_names(char (&to)[kEpochPoints][kEpochNameBytes]) const;

  EpochRecord* records_ = nullptr;
  uint32_t count_ = 0;
  uint64_t unrecorded_ = 0;
  const progress::Board* board_ = nullptr;
  const code::LayoutScript* script_ = nullptr;
  const code::EntryCell* entries_ = nullptr;
  uint32_t counted_ = 0;  // functions of the script, at most kEpochPoints
  long cpu_clock_ = 0;
  uint64_t origin_ns_ = 0;
  uint64_t tells_at_ns_ = ~uint64_t{0};
  uint32_t looked_at_ = 0;  // numbers of the board whose kind is known
  uint32_t points_ = 0;
  uint32_t number_[kEpochPoints] = {};  // of the board
};

}  // namespace stab::helper
