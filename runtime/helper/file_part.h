// A part of a file, a table of its sections or symbols, say, in memory of our own.
#pragma once

#include <stdint.h>

#include "runtime/sys.h"

namespace stab::helper {

// Zeros, which stay until they are unmapped. nullptr: there is no memory.
template <typename T>
T* allocate_array(uint64_t count) {
  void* const memory = sys::map(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  return sys::is_address(memory) ? static_cast<T*>(memory) : nullptr;
}

// Of a table of this size in a file ten million functions have a name; a longer part isn't read.
inline constexpr uint64_t kMostPartBytes = uint64_t{1} << 28;

class FilePart {
 public:
  FilePart(int file, uint64_t offset, uint64_t bytes) {
    if (bytes == 0 || bytes > kMostPartBytes) return;
    memory_ = allocate_array<uint8_t>(bytes);
    if (memory_ == nullptr) return;
    bytes_ = bytes;
    is_read_ = sys::pread_full(file, memory_, bytes, offset) == static_cast<long>(bytes);
  }
  ~FilePart() {
    if (memory_ != nullptr) sys::unmap(memory_, bytes_);
  }
  FilePart(const FilePart&) = delete;
  FilePart& operator=(const FilePart&) = delete;

  uint64_t bytes() const { return bytes_; }
  // nullptr: it can't be had.
  template <typename T>
  const T* as() const {
    return is_read_ ? reinterpret_cast<const T*>(memory_) : nullptr;
  }

 private:
  uint8_t* memory_ = nullptr;
  uint64_t bytes_ = 0;
  bool is_read_ = false;
};

}  // namespace stab::helper
