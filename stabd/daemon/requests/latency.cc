// Buckets instead of samples: they stay small for ever and lose nothing that decides.
#include "stabd/daemon/requests/latency.h"

#include <algorithm>
#include <bit>

namespace stab::daemon {
namespace {

constexpr int kCallbackBits = 3;
constexpr int64_t kCallbackMask = (1 << kCallbackBits) - 1;

}  // namespace

std::string_view name(Callback callback) {
  switch (callback) {
    case Callback::kAccept: return "accept";
    case Callback::kRead: return "read";
    case Callback::kWake: return "wake";
    case Callback::kSweep: return "sweep";
    case Callback::kTick: return "tick";
    case Callback::kEnd: return "end";
  }
  return "unknown";
}

void Latency::add(Callback callback, std::chrono::nanoseconds held, std::chrono::nanoseconds worked) {
  held_.add(callback, held);
  worked_.add(callback, worked);
}

void TimeHistogram::add(Callback callback, std::chrono::nanoseconds time) {
  const int64_t ns = std::max<int64_t>(time.count(), 0);
  const size_t bucket =
      std::min<size_t>(static_cast<size_t>(std::bit_width(static_cast<uint64_t>(ns) / 1000)), buckets_.size() - 1);
  buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
  if (ns <= longest_.load(std::memory_order_relaxed) >> kCallbackBits) return;
  longest_.store(ns << kCallbackBits | static_cast<int64_t>(callback), std::memory_order_relaxed);
}

LatencyFacts TimeHistogram::facts() const {
  LatencyFacts facts;
  for (size_t i = 0; i < buckets_.size(); ++i) facts.callbacks += facts.log2_us[i] = buckets_[i].load(std::memory_order_relaxed);
  const int64_t longest = longest_.load(std::memory_order_relaxed);
  facts.max_ns = longest >> kCallbackBits;
  facts.longest = static_cast<Callback>(longest & kCallbackMask);
  uint64_t below = 0;
  for (size_t i = 0; i < facts.log2_us.size(); ++i) {
    below += facts.log2_us[i];
    if (facts.callbacks == 0 || below * 100 < facts.callbacks * 99) continue;
    facts.p99_ns = std::min<int64_t>((int64_t{1} << i) * 1000, facts.max_ns);
    break;
  }
  return facts;
}

}  // namespace stab::daemon
