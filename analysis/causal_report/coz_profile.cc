// Windows as the text that COZ writes and `coz plot` reads (plasma-umass/coz, viewer/ts/profile.ts): a record a line, fields
// parted by tabs.
//
//   startup           time=NS
//   experiment        selected=FILE:LINE speedup=0.25 duration=NS selected-samples=N   its points follow it
//   throughput-point  name=NAME delta=VISITS
//   latency-point     name=NAME arrivals=N departures=N difference=N
//   runtime           time=NS                                                          at a run's end
//   samples           location=FILE:LINE count=N
//
// The viewer compares an experiment with those at speedup 0 of the same line and adds up what it reads. Our baseline windows are
// everybody's, so each is written once for each line. Durations are effective ones, as COZ's are. `difference`, of which the
// viewer takes the integer part, is the mean number of tasks inside in thousandths: only ratios of it are drawn. Null and
// slow-down windows are left out, and so are windows that do not count (causal_fit.h).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/causal_report/causal_fit.h"

#include "base/number_text.h"

namespace stab::causal_report {
namespace {

// A tab or a line's end would end the field.
std::string field(std::string_view name, std::string_view value) {
  std::string out = "\t" + std::string(name) + "=";
  for (const char c : value) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out;
}
std::string field(std::string_view name, uint64_t value) { return field(name, std::to_string(value)); }

void experiment(std::string& out, const CausalData& data, const CausalWindow& window, uint32_t line) {
  const double duration = effective_ns(window, data.trials[window.trial].clock);
  out += "experiment" + field("selected", data.lines[line].name) + field("speedup", number_text(window.speedup)) +
         field("duration", static_cast<uint64_t>(duration)) + field("selected-samples", window.line_samples) + "\n";
  for (size_t p = 0; p < data.points.size(); ++p) {
    const CausalPoint& point = data.points[p];
    if (point.kind != PointKind::kLatency) {
      out += "throughput-point" + field("name", point.name) + field("delta", window.visits[p]) + "\n";
      continue;
    }
    if (window.latencies.empty()) continue;
    const LatencyIntegral& latency = window.latencies[p];
    out += "latency-point" + field("name", point.name) + field("arrivals", latency.departures) +
           field("departures", latency.departures) +
           field("difference", static_cast<uint64_t>(std::llround(1000 * latency.inside_ns / duration))) + "\n";
  }
}

}  // namespace

std::string coz_profile(const CausalData& data, uint32_t cell) {
  CausalCellSummary summary;
  const std::vector<size_t> windows = windows_that_count(data, cell, summary);
  std::string out;
  for (uint32_t t = 0; t < data.trials.size(); ++t) {
    const CausalTrial& trial = data.trials[t];
    if (trial.cell != cell || !trial.excluded.empty()) continue;
    out += "startup" + field("time", uint64_t{0}) + "\n";
    std::vector<uint8_t> tried(data.lines.size());
    for (const size_t w : windows)
      if (data.windows[w].trial == t && data.windows[w].kind == ArmKind::kSpeedup) tried[*data.windows[w].line] = 1;
    for (const size_t w : windows) {
      const CausalWindow& window = data.windows[w];
      if (window.trial != t) continue;
      if (window.kind == ArmKind::kSpeedup) experiment(out, data, window, *window.line);
      for (uint32_t line = 0; line < data.lines.size() && window.kind == ArmKind::kBaseline; ++line)
        if (tried[line]) experiment(out, data, window, line);
    }
    out += "runtime" + field("time", trial.run_ns) + "\n";
    for (size_t line = 0; line < trial.run_samples.size(); ++line)
      out += "samples" + field("location", data.lines[line].name) + field("count", trial.run_samples[line]) + "\n";
  }
  return out;
}

}  // namespace stab::causal_report
