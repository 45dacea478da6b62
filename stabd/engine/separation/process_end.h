// How a process of ours ended, in words, and what it printed last.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/error.h"

namespace stab::engine {

// Of the worker's end or the engine's, not of what was asked.
bool says_nothing(const Error& error);

// "exit status 1", "killed by signal 11 (Segmentation fault)".
std::string describe_end(const std::optional<int>& exit_status, const std::optional<int>& signal);

// The first bytes of a captured output.
std::string head_of_fd(int fd, size_t bytes);

}  // namespace stab::engine
