// Code that szc has not seen, and that may switch stacks: what a program makes while it runs, in memory that it may execute and
// that is no file's code; and files of other compilers', of which switches are known by their bytes (foreign_code.h).
#pragma once

#include <stdint.h>

#include "runtime/helper/family.h"
#include "runtime/helper/images.h"

namespace stab::helper {

class MadeCode {
 public:
  // True from the moment on when a member of the family had made code in one of these looks.
  bool is_there(const Family& family, const Images& images, uint8_t* buffer);
  // Whether a file that came until then holds a switch.
  bool file_switches_stacks() const { return file_switches_; }

 private:
  bool has(const Process& process, const Images& images, uint8_t* buffer);
  bool has_written_pages(const Process& process, uint64_t start, uint64_t end);

  bool seen_ = false;
  bool file_switches_ = false;
  // Files' code that had no page of the process's own when it was first seen, and was looked through.
  static constexpr uint32_t kMostKnown = 512;
  struct Known {
    uint64_t start, end, file;
  };
  Known known_[kMostKnown];
  uint32_t known_count_ = 0;
};

}  // namespace stab::helper
