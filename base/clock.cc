#include "base/clock.h"

#include <time.h>

namespace stab {
namespace {

std::chrono::nanoseconds read(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

std::chrono::nanoseconds SystemClock::monotonic_raw() const { return read(CLOCK_MONOTONIC_RAW); }
std::chrono::nanoseconds SystemClock::realtime() const { return read(CLOCK_REALTIME); }

}  // namespace stab
