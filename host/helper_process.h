// Helper: the process that builds layouts next to a trial, started before the counters open so that its time
// is in none of them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/launch.h"

namespace stab::broker {
class Client;
}

namespace stab::engine {

// What became of a helper: its report, or the signal that ended it before it had written one. That is the laboratory's
// loss; the program can't help it.
struct HelperEnd {
  std::string report;  // empty where no program ever connected
  std::string epochs;  // what follows it: runtime/helper/epoch_record.h
  int signal = 0;      // 0: it reported
};

// What a helper is to do. It always tells of epochs.
struct HelperTask {
  int cpu = -1;          // it is pinned to that; -1: anywhere
  int script = -1;       // descriptor of its layout script, which stays the caller's; -1: none
  bool samples = false;  // it tells where the program's CPU time was spent, by function
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
  // After the program has ended: waits until the helper closes its report, or has died. An Error where it hangs or has
  // refused to serve.
  Result<HelperEnd> finish();

 private:
  Helper() = default;
  int end();  // kills it; the status that it ended with, before that or by it
  pid_t pid_ = -1;
  broker::Client* broker_ = nullptr;  // who is its parent; null: we
  UniqueFd program_end_, report_;
};

}  // namespace stab::engine
