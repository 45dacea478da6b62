// Whatever a measured program writes: no crash, no hang; a refusal in words, or metrics that hold their invariant. The first
// byte chooses the format; 255: the rest are criterion's three files, with a zero between.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "plan/metrics/criterion_files.h"
#include "plan/metrics/metrics.h"

namespace {

void demand(bool condition) {
  if (!condition) std::abort();
}

// A part up to a zero.
std::string_view take_file(std::string_view& text) {
  const std::string_view file = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(file.size() + 1, text.size()));
  return file;
}

void read_criterion(std::string_view text) {
  using namespace stab::metrics;
  const std::string_view benchmark = take_file(text), estimates = take_file(text), sample = take_file(text);
  const auto one = read_criterion_files(benchmark, estimates, sample);
  if (!one) return demand(!one.error().message.empty());
  ProcessList list;
  const auto added = list.add(one->name, one->seconds, 0);
  demand(added.ok() || !added.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stab::metrics;
  if (size == 0) return 0;
  if (data[0] == 255) {
    read_criterion({reinterpret_cast<const char*>(data) + 1, size - 1});
    return 0;
  }
  const Format& format = formats()[data[0] % formats().size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto processes = read_processes(format, text);
  if (processes) {
    std::set<std::pair<std::string, size_t>> places;
    demand(!processes->empty());
    for (const ProcessTime& time : *processes) {
      demand(std::isfinite(time.seconds) && (time.seconds > 0) == time.failure.empty() && !time.benchmark.empty());
      demand(places.insert({time.benchmark, time.process}).second);
    }
  } else {
    demand(!processes.error().message.empty());
  }
  const auto metrics = read(format, text);
  if (!metrics) {
    demand(!metrics.error().message.empty());
    return 0;
  }
  std::set<std::string> names;
  demand(!metrics->empty() && metrics->size() <= kMostBenchmarks);
  for (const Metric& metric : *metrics) {
    demand(names.insert(metric.name).second && !metric.name.empty() && metric.name.size() <= kMostNameBytes);
    demand(metric.seconds.has_value() == metric.reason.empty());
    if (metric.seconds) demand(std::isfinite(*metric.seconds) && *metric.seconds > 0);
    for (const char c : metric.name + metric.reason) demand(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
  return 0;
}
