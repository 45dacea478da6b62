// hyperfine's format: src/export/json.rs and benchmark_result.rs of its sources.
#include "analysis/commands/time/timed_runs.h"

#include <algorithm>
#include <optional>

#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {

RunSummary summary_of(const TimedRuns& runs) {
  RunSummary out;
  std::vector<double> sorted = runs.times;
  std::sort(sorted.begin(), sorted.end());
  const statistics::Moments times = statistics::moments(runs.times);
  out.n = runs.times.size();
  out.mean = times.mean;
  out.sd = out.n > 1 ? times.sd() : 0;
  out.median = statistics::quantile_sorted(sorted, 0.5);
  out.least = sorted.front();
  out.most = sorted.back();
  out.user = statistics::moments(runs.user).mean;
  out.system = statistics::moments(runs.system).mean;
  return out;
}

std::string hyperfine_json(const std::vector<TimedRuns>& commands) {
  text::JsonWriter json;
  json.begin_object().begin_array("results");
  for (const TimedRuns& one : commands) {
    if (one.times.empty()) continue;
    const RunSummary of = summary_of(one);
    json.begin_object().value("command", one.command).value("mean", of.mean);
    json.value("stddev", of.n > 1 ? std::optional(of.sd) : std::nullopt).value("median", of.median);
    json.value("user", of.user).value("system", of.system).value("min", of.least).value("max", of.most);
    json.begin_array("times");
    for (const double time : one.times) json.element(time);
    json.end().begin_array("exit_codes");
    for (const int code : one.exit_codes) json.element(code);
    json.end().end();
  }
  json.end().end();
  return json.take();
}

}  // namespace stab::commands
