// Expectation: does a finished process show what its plan demands?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/plan.h"
#include "stabd/engine/separation/process_end.h"
#include "stabd/engine/separation/worker.h"

namespace stab::engine {

// What a process left behind. Either exit_status or signal is set.
struct ProcessEnd {
  std::optional<int> exit_status;
  std::optional<int> signal;
  int out_fd = -1;  // captured standard output, seekable
  std::string stdout_sha256, stderr_sha256;
  int64_t stdout_bytes = 0, stderr_bytes = 0;
  std::string directory;  // the trial's
};

// Empty when all is as expected, else the first contradiction in words. `first_stdout_sha256`: of the
// workload's first trial, if there is one. `worker` reads outputs and files. An Error is the worker's end or the engine's,
// and says nothing about the trial (kUnavailable, kBusy).
Result<std::string> contradiction(const plan::Expect& expect, const ProcessEnd& end,
                                  const std::optional<std::string>& first_stdout_sha256, Worker* worker);

// SHA-256 of an output's first bytes; the worker hashes long ones.
Result<std::string> hash_of_output(int fd, int64_t bytes, Worker* worker);

}  // namespace stab::engine
