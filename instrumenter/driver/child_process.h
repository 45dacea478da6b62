// Running other programs and waiting for them.
#pragma once

#include <string>

#include "base/result.h"
#include "instrumenter/driver/command_line.h"

namespace stab::driver {

// Runs command[0] with the rest as arguments, our descriptors and environment. Returns its exit code, or
// 128 + signal.
Result<int> run(const Arguments& command);

struct Captured {
  int exit_code;
  std::string error_output;
};
// The same with standard error captured and standard output dropped.
Result<Captured> run_captured(const Arguments& command);

// Becomes the command. Returns only on failure.
Error become(const Arguments& command);

// The command as -### shows it: every word quoted.
std::string shown_as_typed(const Arguments& command);

}  // namespace stab::driver
