// The zone is the one of the process that prints, so that a time can be compared with the clock on the wall.
#include "stabd/engine/results/local_time.h"

#include <ctime>

namespace stab::engine {
namespace {

time_t seconds_of(int64_t realtime_ns) { return static_cast<time_t>(realtime_ns / 1'000'000'000); }

}  // namespace

std::string local_time(int64_t realtime_ns, const char* format) {
  const time_t seconds = seconds_of(realtime_ns);
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

std::string utc_day(int64_t realtime_ns) {
  const time_t seconds = seconds_of(realtime_ns);
  tm parts{};
  char day[16];
  return ::gmtime_r(&seconds, &parts) != nullptr && ::strftime(day, sizeof day, "%Y-%m-%d", &parts) > 0 ? day : "";
}

}  // namespace stab::engine
