// The end of a process as users read it.
#include "stabd/engine/separation/process_end.h"

#include <string.h>
#include <unistd.h>

namespace stab::engine {

std::string describe_end(const std::optional<int>& exit_status, const std::optional<int>& signal) {
  if (signal) return "killed by signal " + std::to_string(*signal) + " (" + strsignal(*signal) + ")";
  if (exit_status) return "exit status " + std::to_string(*exit_status);
  return "no exit status";
}

std::string head_of_fd(int fd, size_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(fd, text.data(), bytes, 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

bool says_nothing(const Error& error) { return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kBusy; }

}  // namespace stab::engine
