// The zone is the one of the process that prints, so that a time can be compared with the clock on the wall.
#include "stabd/engine/results/local_time.h"

#include <ctime>

namespace stab::engine {

std::string local_time(int64_t realtime_ns, const char* format) {
  const time_t seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace stab::engine
