// HelperReport: what a helper tells its laboratory, while its program runs and afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::engine {

// What became of a helper: its report, or the signal that ended it before it had written one. That is the laboratory's
// loss; the program can't help it.
struct HelperEnd {
  std::string report;  // empty where no program ever connected
  std::string epochs;  // what follows it: runtime/helper/epoch_record.h
  int signal = 0;      // 0: it reported
  std::chrono::milliseconds given_up{0};  // it lived, and its report was not whole after so long; 0: it reported
};

// How often a point of the program's was visited so far. The name is printable.
struct PointVisits {
  std::string name;
  uint64_t visits = 0;
  bool operator==(const PointVisits&) const = default;
};

class HelperReport {
 public:
  // pipe: where the helper writes.
  explicit HelperReport(UniqueFd pipe) : pipe_(std::move(pipe)) {}

  // While the program runs: the latest that the helper has said of what it has done, since the last look. Doesn't wait.
  std::optional<std::vector<PointVisits>> progress();
  // After the program has ended: waits until the helper closes its report, has died, was silent for as long, or has talked for
  // three times as long, since whoever runs as its user may make it talk for ever. `end` ends it, where it still lives, and says
  // with what status of wait4 it ended. An Error where it has refused to serve.
  Result<HelperEnd> finish(std::chrono::milliseconds patience, const std::function<int()>& end);

 private:
  UniqueFd pipe_;
  std::string said_;  // and not yet looked at
};

}  // namespace stab::engine
