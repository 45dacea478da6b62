// The map that perf reads to name moved functions: /tmp/perf-PID.map, one line a function and image.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code/image.h"
#include "runtime/code/metadata.h"

namespace stab::helper {

class PerfMap {
 public:
  // Takes the functions' names from the executable's symbols. A stripped one has none: lines say fn_ADDRESS.
  // False: it has symbols, and they can't be read, for want of memory or because the file is damaged; lines say fn_ADDRESS.
  bool read_names(int executable, const code::Metadata& code);
  // Replaces the file of an earlier process. False: it can't be made, and add() does nothing.
  bool open(int pid);
  // The image that was just built; `slot` is its address in the program.
  // False: it could not be written to its end; the map is closed.
  bool add(const code::Metadata& code, const code::ImageScratch& scratch, const uint8_t* image, uint64_t slot);
  bool is_open() const { return file_ >= 0; }
  // nullptr: it has none.
  const char* name_of(uint32_t function) const {
    return name_ != nullptr && name_[function] != 0 ? strings_ + name_[function] : nullptr;
  }

 private:
  int file_ = -1;
  const char* strings_ = nullptr;
  uint32_t* name_ = nullptr;  // by function: offset into strings_; 0: unknown
};

}  // namespace stab::helper
