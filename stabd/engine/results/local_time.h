// Local time: when something happened, as people read it in logs and lists.
#pragma once

#include <cstdint>
#include <string>

namespace stab::engine {

// Nanoseconds since 1970 in the machine's time zone; format is strftime's.
std::string local_time(int64_t realtime_ns, const char* format = "%Y-%m-%d %H:%M:%S");

}  // namespace stab::engine
