// Code that a program makes while it runs: memory that it may execute and that is no file's code. szc has not seen it, and it may
// switch stacks.
#pragma once

#include <stdint.h>

#include "runtime/helper/family.h"
#include "runtime/helper/images.h"

namespace stab::helper {

class MadeCode {
 public:
  // True from the moment on when a member of the family had such memory in one of these looks.
  bool is_there(const Family& family, const Images& images, uint8_t* buffer);

 private:
  bool has(const Process& process, const Images& images, uint8_t* buffer);
  bool has_written_pages(const Process& process, uint64_t start, uint64_t end);

  bool seen_ = false;
  // Files' code that had no page of the process's own when it was first seen.
  static constexpr uint32_t kMostKnown = 512;
  struct Known {
    uint64_t start, end, file;
  };
  Known known_[kMostKnown];
  uint32_t known_count_ = 0;
};

}  // namespace stab::helper
