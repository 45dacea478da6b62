#include "runtime/helper/pages.h"

#include "runtime/arch/arch.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

constexpr uint64_t kPresent = uint64_t{3} << 62;   // or swapped
constexpr uint64_t kOfFile = uint64_t{1} << 61;    // or of shared memory
constexpr uint32_t kMostEntries = 4096;
uint64_t entries[kMostEntries];

}  // namespace

Pages::Pages(const Process& process, uint64_t start, uint64_t end)
    : file_(sys::open_at(process.directory, "pagemap", O_RDONLY)), failed_(file_ < 0), at_(start), end_(end) {}

Pages::~Pages() {
  if (file_ >= 0) sys::close(file_);
}

bool Pages::fill() {
  if (failed_ || at_ >= end_) return false;
  const uint64_t left = (end_ - at_) / arch::kPage;
  const uint64_t wanted = left < kMostEntries ? left : kMostEntries;
  const long got = sys::pread(file_, entries, wanted * sizeof entries[0], at_ / arch::kPage * sizeof entries[0]);
  // Nothing: the address space is gone.
  failed_ = got < 0;
  next_ = 0;
  count_ = got > 0 ? static_cast<uint32_t>(static_cast<uint64_t>(got) / sizeof entries[0]) : 0;
  return count_ > 0;
}

bool Pages::next(PresentPages& out) {
  for (;; ++next_, at_ += arch::kPage) {
    if (next_ == count_ && !fill()) return false;
    if ((entries[next_] & kPresent) != 0) break;
  }
  out = {at_, at_, (entries[next_] & kOfFile) == 0};
  while (next_ < count_ && (entries[next_] & kPresent) != 0 && ((entries[next_] & kOfFile) == 0) == out.own) {
    ++next_;
    at_ += arch::kPage;
  }
  out.end = at_;
  return true;
}

}  // namespace stab::helper
