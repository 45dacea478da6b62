// Clock: the seam through which logic sees time, so that tests need no sleep and no wall clock.
#pragma once

#include <sys/time.h>
#include <time.h>

#include <chrono>

namespace stab {

// What the kernel says in seconds and a fraction: clocks, times of files, what processes have used.
constexpr std::chrono::nanoseconds nanoseconds_of(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}
constexpr std::chrono::nanoseconds nanoseconds_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// CPU time of the thread that asks.
std::chrono::nanoseconds thread_cpu_time();

class Clock {
 public:
  virtual ~Clock() = default;
  // CLOCK_MONOTONIC_RAW: not slewed by NTP; for durations of trials. Stops during suspend.
  virtual std::chrono::nanoseconds monotonic_raw() const = 0;
  // CLOCK_REALTIME since the epoch, UTC; for records, windows and people, never for durations.
  virtual std::chrono::nanoseconds realtime() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic_raw() const override;
  std::chrono::nanoseconds realtime() const override;
};

// A clock that moves only when told to.
class FakeClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic_raw() const override { return monotonic_; }
  std::chrono::nanoseconds realtime() const override { return realtime_; }
  void advance(std::chrono::nanoseconds by) {
    monotonic_ += by;
    realtime_ += by;
  }
  void step_realtime(std::chrono::nanoseconds by) { realtime_ += by; }

 private:
  std::chrono::nanoseconds monotonic_{0};
  std::chrono::nanoseconds realtime_{0};
};

}  // namespace stab
