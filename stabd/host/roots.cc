// Reading and writing the small files of /proc and /sys: one open, one read or write, no buffering, because
// they are made at that moment and many accept one write only.
#include "stabd/host/roots.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/unique_fd.h"

namespace stab::host {

std::optional<std::string> read_small_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  std::string text;
  char buffer[16384];
  ssize_t got = 0;
  while ((got = ::read(fd.get(), buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(got));
  if (got < 0) return {};
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool write_small_file(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!fd) return false;
  const ssize_t put = ::write(fd.get(), text.data(), text.size());
  if (put >= 0 && put != static_cast<ssize_t>(text.size())) errno = EIO;
  return put == static_cast<ssize_t>(text.size());
}

std::optional<long long> to_integer(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

}  // namespace stab::host
