// Helper: the process that builds layouts next to a trial, started before the counters open so that its time
// is in none of them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/host/launch.h"

namespace stab::broker {
class Client;
}

namespace stab::host {

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

// What a helper is to do. It always tells of epochs.
struct HelperTask {
  int cpu = -1;          // it is pinned to that; -1: anywhere
  int script = -1;       // descriptor of its layout script, which stays the caller's; -1: none
  bool samples = false;  // it tells where the program's CPU time was spent, by function
  bool long_loops = false;  // it leads long loops to new layouts
};

class Helper {
 public:
  // Starts `path` outside the trial's cgroup, with the rights of the user whose program it serves; absent: the engine's own, as
  // for the program.
  static Result<Helper> start(const std::string& path, const HelperTask& task, const std::optional<Submitter>& submitter);
  // One that a broker has started with a program.
  static Helper at(broker::Client& broker, pid_t pid, UniqueFd report);
  Helper(Helper&& other) noexcept;
  Helper& operator=(Helper&&) = delete;
  ~Helper();  // kills it if it still runs

  pid_t pid() const { return pid_; }
  // The socket that the program inherits. Once.
  UniqueFd take_program_end() { return std::move(program_end_); }
  // For a broker, which hands it to its engine, and ends the process itself.
  UniqueFd take_report() { return std::move(report_); }
  void release() { pid_ = -1; }
  // While the program runs: the latest that the helper has said of what it has done, since the last look. Doesn't wait.
  std::optional<std::vector<PointVisits>> progress();
  // After the program has ended: waits until the helper closes its report, has died, was silent for as long, or has talked for
  // three times as long, since whoever runs as its user may make it talk for ever. An Error where it has refused to serve.
  Result<HelperEnd> finish(std::chrono::milliseconds patience);

 private:
  Helper() = default;
  int end();  // kills it; the status that it ended with, before that or by it
  pid_t pid_ = -1;
  broker::Client* broker_ = nullptr;  // who is its parent; null: we
  UniqueFd program_end_, report_;
  std::string said_;  // and not yet looked at
};

}  // namespace stab::host
