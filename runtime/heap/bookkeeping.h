// Memory for the heap's own records, which never lie between the program's objects: what a program overruns
// is its own, and the addresses it gets don't depend on what we note about them.
#pragma once

#include <stddef.h>

#include "runtime/heap/lock.h"

namespace stab::heap {

class Bookkeeping {
 public:
  // Zeroed, aligned to 64; null when the system refuses. Thread-safe.
  void* allocate(size_t bytes);
  // pre: from allocate(bytes) with the same bytes.
  void free(void* record, size_t bytes);

  Lock& lock() { return lock_; }

 private:
  static constexpr size_t kUnit = 64;
  static constexpr size_t kLargestPooled = 4096;     // group arrays of 64; larger records get a mapping each
  static constexpr size_t kChunkBytes = 256 * 1024;  // a mapping at a time: small enough for ulimit -v

  void* take(size_t units);

  struct Unused {
    Unused* next;
  };

  Lock lock_;
  char* next_ = nullptr;
  size_t left_ = 0;
  Unused* unused_[kLargestPooled / kUnit + 1] = {};  // by size in units
};

}  // namespace stab::heap
