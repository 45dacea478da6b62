// Latency: how long each callback has held the daemon's loop, and how much of that it has worked.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.h"

namespace stab::daemon {

// What libuv calls us for.
enum class Callback : uint8_t { kAccept, kRead, kWake, kSweep, kTick, kEnd };
std::string_view name(Callback callback);

// One measure of all callbacks.
struct LatencyFacts {
  // Callbacks that took less than 2^i microseconds and not less than 2^(i-1); the last bucket has the rest.
  std::array<uint64_t, 24> log2_us{};
  uint64_t callbacks = 0;
  int64_t max_ns = 0;
  Callback longest = Callback::kAccept;  // which took max_ns; any where there was none
  int64_t p99_ns = 0;  // the upper end of the bucket that has it
};

// How often one measure took how long. One thread writes it, any may read it.
class TimeHistogram {
 public:
  void add(Callback callback, std::chrono::nanoseconds time);
  LatencyFacts facts() const;

 private:
  std::array<std::atomic<uint64_t>, 24> buckets_{};
  // A time in ns, and below it 3 bits that say whose: one word, so that the two belong together.
  std::atomic<int64_t> longest_{0};
};

// Written by one thread, read by any. Two clocks: between its beginning and its end a callback may also have waited for a
// processor, its own or the hypervisor's, which is no fault of its own; what the thread's clock says it has worked.
class Latency {
 public:
  void add(Callback callback, std::chrono::nanoseconds held, std::chrono::nanoseconds worked);
  LatencyFacts held() const { return held_.facts(); }
  LatencyFacts worked() const { return worked_.facts(); }

  // Adds the time between its making and its end.
  class Held {
   public:
    Held(Latency& latency, Callback callback)
        : latency_(latency), callback_(callback), began_(std::chrono::steady_clock::now()), worked_before_(thread_cpu_time()) {}
    ~Held() { latency_.add(callback_, std::chrono::steady_clock::now() - began_, thread_cpu_time() - worked_before_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Latency& latency_;
    const Callback callback_;
    const std::chrono::steady_clock::time_point began_;
    const std::chrono::nanoseconds worked_before_;
  };

 private:
  TimeHistogram held_, worked_;
};

}  // namespace stab::daemon
