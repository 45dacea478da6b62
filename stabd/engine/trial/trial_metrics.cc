// The worker reads the file, as the submitter. Its answers are held against the limits that it should have kept: another
// process of that user may have given them.
#include "stabd/engine/trial/trial_metrics.h"

#include <bit>
#include <cmath>
#include <set>

#include "plan/metrics/metrics.h"
#include "stabd/engine/trial/expectation.h"

namespace stab::engine {
namespace {

// Where the format's tool leaves its results by itself; empty: nowhere.
std::string own_place(const std::string& format) {
  const metrics::Format* found = metrics::format_named(format);
  return found ? std::string(found->own_place) : "";
}

}  // namespace

Result<std::string> add_metrics(const plan::Metrics& metrics, const std::string& directory, int out_fd, Worker* worker,
                                std::vector<store::ResponseRow>& responses) {
  if (worker == nullptr) return Error{ErrorCode::kInternal, "there is no worker to read a trial's metrics", {}};
  std::string place = metrics.file.empty() ? own_place(metrics.format) : metrics.file;
  const auto ask = [&](uint32_t first) {
    const worker::ReadMetrics request{place.empty() ? "" : directory + "/" + place, metrics.format, first};
    return worker->ask(request, place.empty() ? out_fd : -1);
  };
  auto answer = ask(0);
  // The tool has left nothing of its own, so what it printed counts.
  if (!answer && answer.error().code == ErrorCode::kNotFound && metrics.file.empty() && !place.empty()) {
    place.clear();
    answer = ask(0);
  }
  const std::string where = place.empty() ? "standard output" : "'" + place + "'";
  const std::string what = "metrics (" + metrics.format + ") in " + where + ": ";
  const std::string wrong = what + "stab-worker gave an answer that Stab never gives, or the file changed while it was read";
  std::vector<store::ResponseRow> rows;
  std::set<std::string> names;
  for (uint32_t total = 1; rows.size() < total;) {
    if (!rows.empty()) answer = ask(static_cast<uint32_t>(rows.size()));
    if (!answer && says_nothing(answer.error())) return answer.error();
    if (!answer) return what + answer.error().message;
    if (answer->rows.empty() || answer->total > metrics::kMostBenchmarks || answer->rows.size() > answer->total - rows.size())
      return wrong;
    total = answer->total;
    for (const worker::ReadMetrics::Row& row : answer->rows) {
      const double seconds = std::bit_cast<double>(row.seconds_bits);
      if (row.name.empty() || row.name.size() > metrics::kMostNameBytes || !names.insert(row.name).second) return wrong;
      if (row.reason.empty() && !(std::isfinite(seconds) && seconds > 0)) return wrong;
      store::ResponseRow response;
      response.name = std::string(kMetricPrefix) + row.name;
      response.reason = row.reason;
      if (row.reason.empty()) response.value = seconds;
      rows.push_back(std::move(response));
    }
  }
  responses.insert(responses.end(), rows.begin(), rows.end());
  return std::string();
}

}  // namespace stab::engine
