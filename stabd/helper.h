// Helper: the process that builds layouts next to a trial, started before the counters open so that its time
// is in none of them.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::engine {

class Helper {
 public:
  // Starts `path` pinned to `cpu` (-1: anywhere), outside the trial's cgroup.
  static Result<Helper> start(const std::string& path, int cpu);
  Helper(Helper&& other) noexcept;
  Helper& operator=(Helper&&) = delete;
  ~Helper();  // kills it if it still runs

  pid_t pid() const { return pid_; }
  // The socket that the program inherits. Once.
  UniqueFd take_program_end() { return std::move(program_end_); }
  // After the program has ended: the dose report, empty where no program ever connected. Waits until the
  // helper closes it.
  Result<std::string> finish();

 private:
  Helper() = default;
  pid_t pid_ = -1;
  UniqueFd program_end_, report_;
};

}  // namespace stab::engine
