// The worker reads the file, as the submitter. Its answers are held against the limits that it should have kept: another
// process of that user may have given them.
#include "stabd/engine/trial/trial_metrics.h"

#include <bit>
#include <cmath>
#include <set>

#include "plan/metrics/metrics.h"
#include "stabd/engine/trial/expectation.h"

namespace stab::engine {

Result<std::string> add_metrics(const plan::Metrics& metrics, const std::string& directory, int out_fd, Worker* worker,
                                std::vector<store::ResponseRow>& responses) {
  if (worker == nullptr) return Error{ErrorCode::kInternal, "a trial's metrics are to be read, and there is no worker", {}};
  const bool file = !metrics.file.empty();
  const std::string what = "metrics (" + metrics.format + ") in " + (file ? "'" + metrics.file + "'" : "standard output") + ": ";
  const std::string wrong = what + "what the worker says of it is none of what a worker says, or it changed while it was read";
  std::vector<store::ResponseRow> rows;
  std::set<std::string> names;
  for (uint32_t total = 1; rows.size() < total;) {
    const auto first = static_cast<uint32_t>(rows.size());
    const worker::ReadMetrics request{file ? directory + "/" + metrics.file : "", metrics.format, first};
    const auto answer = worker->ask(request, file ? -1 : out_fd);
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
