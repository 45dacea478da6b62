#include "base/clock.h"

namespace stab {
namespace {

std::chrono::nanoseconds read(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return nanoseconds_of(now);
}

}  // namespace

std::chrono::nanoseconds thread_cpu_time() { return read(CLOCK_THREAD_CPUTIME_ID); }
std::chrono::nanoseconds SystemClock::monotonic_raw() const { return read(CLOCK_MONOTONIC_RAW); }
std::chrono::nanoseconds SystemClock::realtime() const { return read(CLOCK_REALTIME); }

}  // namespace stab
