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
  std::string text;
};
// The same with what it writes to `descriptor`, standard output or standard error, captured and the other dropped.
Result<Captured> run_captured(const Arguments& command, int descriptor);

// Becomes the command. Returns only on failure.
Error become(const Arguments& command);

// The command as -### shows it: every word quoted.
std::string shown_as_typed(const Arguments& command);

}  // namespace stab::driver
