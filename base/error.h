// Error: why an operation failed, in a closed set of codes that callers decide by, and a message for people.
#pragma once

#include <string>
#include <string_view>

namespace stab {

// What a caller can decide by. Nobody matches message text.
enum class ErrorCode {
  kBadInput,      // what the user wrote is wrong: plan, option, CSV, protocol frame. Exit code 2
  kNotFound,      // a named thing does not exist
  kDenied,        // permission, capability, perf_event_paranoid
  kUnavailable,   // this machine or kernel does not have it
  kBusy,          // someone else holds it
  kCorrupt,       // a file or a frame of ours does not hold what its format promises
  kSystem,        // a system call failed for another reason
  kInternal,      // a state that must not occur
};

// Where in a text the fault is; line and column count from 1, 0 = unknown.
struct SourceSpot {
  std::string file;
  int line = 0;
  int column = 0;

  bool known() const { return line > 0; }
};

// Messages: lower case, no full stop, quote what the user wrote, what was expected, then the cure.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  SourceSpot spot;

  // "file:3:7: message", or the message alone where no spot is known.
  std::string text() const;
};

// "kBadInput" -> "bad input", for logs and JSON.
std::string_view name(ErrorCode code);

Error bad_input(std::string message, SourceSpot spot = {});
Error denied(std::string message);
Error corrupt(std::string message);

// "open '/x': No such file or directory", with a code derived from errno_value.
Error system_error(std::string_view what, int errno_value);

}  // namespace stab
