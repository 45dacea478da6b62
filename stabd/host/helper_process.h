// Helper: the process that builds layouts next to a trial, started before the counters open so that its time
// is in none of them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/helper/switches.h"
#include "stabd/host/launch.h"

namespace stab::host {

// What a helper is to do.
struct HelperTask {
  int cpu = -1;     // it is pinned to that; -1: anywhere
  int script = -1;  // descriptor of its layout script, which stays the caller's; -1: none
  uint32_t switches = helper::kTellEpochs;  // of runtime/helper/switches.h
};

class Helper {
 public:
  // Starts `path` outside the trial's cgroup, with the rights of the user whose program it serves; absent: the engine's own, as
  // for the program.
  static Result<Helper> start(const std::string& path, const HelperTask& task, const std::optional<Submitter>& submitter);
  Helper(Helper&& other) noexcept;
  Helper& operator=(Helper&&) = delete;
  ~Helper();  // kills it unless it was released

  pid_t pid() const { return pid_; }
  // The socket that the program inherits. Once.
  UniqueFd take_program_end() { return std::move(program_end_); }
  // For whoever reads what it reports, and ends the process.
  UniqueFd take_report() { return std::move(report_); }
  void release() { pid_ = -1; }

 private:
  Helper() = default;
  pid_t pid_ = -1;
  UniqueFd program_end_, report_;
};

}  // namespace stab::host
