// When something happened, as people read it in logs and lists, and as sessions are told apart.
#pragma once

#include <cstdint>
#include <string>

namespace stab::engine {

// Nanoseconds since 1970 in the machine's time zone; format is strftime's.
std::string local_time(int64_t realtime_ns, const char* format = "%Y-%m-%d %H:%M:%S");
// "2026-11-20", in UTC, as sessions have it; empty: a moment that has no day.
std::string utc_day(int64_t realtime_ns);

}  // namespace stab::engine
