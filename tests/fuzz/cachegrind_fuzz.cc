// Whatever a measured program leaves where cachegrind's counts are expected: no crash, no hang; a refusal in words, or a sum for
// each event.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plan/metrics/cachegrind.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto sums = stab::metrics::read_cachegrind(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!sums) {
    if (sums.error().message.empty()) std::abort();
    return 0;
  }
  if (sums->empty() || sums->size() > 64) std::abort();
  for (const auto& [event, count] : *sums) {
    if (event.empty() || event.size() > 32) std::abort();
    for (const char c : event)
      if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) std::abort();
  }
  return 0;
}
