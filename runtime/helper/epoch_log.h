// EpochLog: the records of a helper's epochs, kept until the program has ended.
#pragma once

#include <stdint.h>

#include "runtime/helper/epoch_record.h"
#include "runtime/progress/board.h"

namespace stab::helper {

class EpochLog {
 public:
  // Reserves memory, of which pages exist once they are written. Without it nothing is recorded.
  void begin(const progress::Board* board, int pid);
  bool is_on() const { return records_ != nullptr; }

  // Now. The last one is to have kEpochEnd.
  void add(uint32_t epoch, uint32_t image, uint32_t refill, int slot, uint8_t flags);

  // Behind what was written there before. Blocks until somebody has read it.
  void write_to(int fd) const;

 private:
  void find_points();

  EpochRecord* records_ = nullptr;
  uint32_t count_ = 0;
  uint64_t unrecorded_ = 0;
  const progress::Board* board_ = nullptr;
  long cpu_clock_ = 0;
  uint64_t origin_ns_ = 0;
  uint32_t looked_at_ = 0;  // numbers of the board whose kind is known
  uint32_t points_ = 0;
  uint32_t number_[kEpochPoints] = {};
};

}  // namespace stab::helper
