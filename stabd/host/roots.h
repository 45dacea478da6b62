// Roots: where the kernel's files are found. Tests point them at a directory of their own, so that everything
// that reads or writes the host is tested without root and on machines that lack it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stab::host {

struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
};

// All of a small file without its last newline; nothing if it can't be read, and errno says why.
std::optional<std::string> read_small_file(const std::string& path);
// The whole text in one write(), as the kernel's files want it. errno is set on failure.
bool write_small_file(const std::string& path, std::string_view text);
// "  12 " -> 12; nothing if text is no number.
std::optional<long long> to_integer(std::string_view text);

}  // namespace stab::host
