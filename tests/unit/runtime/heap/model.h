// Model: what must be true of a heap: which blocks are live, how large they are, what was written into them.
// Used by random sequences of calls (model_test.cc) and by the fuzzer (tests/fuzz/heap_fuzz.cc). Throws
// std::logic_error at the first thing that isn't so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "runtime/heap/heap_api.h"

namespace stab::heap {

// Live blocks by address. No two overlap; each holds its stamp in its first and last 64 bytes.
class Model {
 public:
  static void expect(bool condition, const char* what) {
    if (!condition) throw std::logic_error(what);
  }

  void add(void* address, size_t bytes) {
    expect(address != nullptr, "no block");
    const uint64_t at = reinterpret_cast<uint64_t>(address);
    expect(at % 16 == 0, "a block is not aligned to 16");
    expect(stab_heap_malloc_usable_size(address) >= bytes, "a block is smaller than asked for");
    const auto above = blocks_.lower_bound(at);
    expect(above == blocks_.end() || at + std::max<size_t>(bytes, 1) <= above->first, "a block overlaps the next");
    expect(above == blocks_.begin() || std::prev(above)->first + std::prev(above)->second <= at,
           "a block overlaps the one before");
    blocks_[at] = bytes;
    stamp(at, bytes);
  }

  // The first `bytes` of a block that was stamped when it had `stamped` bytes.
  static void check(uint64_t at, size_t bytes, size_t stamped) {
    const unsigned char* block = reinterpret_cast<const unsigned char*>(at);
    for (size_t i = 0; i < std::min<size_t>(bytes, 64); ++i)
      expect(block[i] == value(stamped, i), "the start of a block changed");
    if (bytes != stamped) return;
    for (size_t i = bytes > 64 ? bytes - 64 : 0; i < bytes; ++i)
      expect(block[i] == value(stamped, i), "the end of a block changed");
  }

  bool empty() const { return blocks_.empty(); }
  size_t size() const { return blocks_.size(); }

  // The live block at or above an address (else the lowest), checked and no longer live.
  std::pair<void*, size_t> take(uint64_t near) {
    auto at = blocks_.lower_bound(near);
    if (at == blocks_.end()) at = blocks_.begin();
    const std::pair<void*, size_t> taken{reinterpret_cast<void*>(at->first), at->second};
    check(at->first, at->second, at->second);
    blocks_.erase(at);
    return taken;
  }
  // An address in `share` 65536ths of the range of live blocks. pre: not empty
  uint64_t near(uint64_t share) const {
    const uint64_t lowest = blocks_.begin()->first, highest = blocks_.rbegin()->first;
    return lowest + (highest - lowest) / 65536 * share;
  }

 private:
  static unsigned char value(size_t bytes, size_t i) { return static_cast<unsigned char>(bytes * 31 + i * 7); }
  static void stamp(uint64_t at, size_t bytes) {
    unsigned char* block = reinterpret_cast<unsigned char*>(at);
    for (size_t i = 0; i < std::min<size_t>(bytes, 64); ++i) block[i] = value(bytes, i);
    for (size_t i = bytes > 64 ? bytes - 64 : 0; i < bytes; ++i) block[i] = value(bytes, i);
  }
  std::map<uint64_t, size_t> blocks_;
};

}  // namespace stab::heap
