// Command: what runs around trials, never measured: builds, prepare, cleanup.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "stabd/engine/build/laboratory.h"
#include "stabd/host/launch.h"

namespace stab::engine {

struct CommandOutput {
  bool ok = false;
  bool cancelled = false;  // everything was to stop: it says nothing of the command
  std::string failure;  // why not: "exit status 2", "still running after 30 min, killed"
  std::string log;      // stdout and stderr together, the last part where it is long
  std::string answer;   // stdout where it was wanted apart: all of it, and none of it is in the log
  std::chrono::nanoseconds duration{0};
};

enum class Stdout { kInLog, kApart };

// Runs to its end, kills what it leaves behind. An Error only where it could not be started or killed.
Result<CommandOutput> run_command(const Laboratory& laboratory, const host::LaunchRequest& request,
                                  std::chrono::nanoseconds timeout, Stdout out = Stdout::kInLog);

}  // namespace stab::engine
