#include "stabd/lines/wire/source_pattern.h"

#include <algorithm>

#include "base/like.h"

namespace stab::lines {
namespace {

constexpr std::string_view kSystem[] = {"/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/lib/"};

}  // namespace

bool matches_source(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return false;
  if (is_like(path, pattern)) return true;
  if (pattern.front() == '/') return false;
  for (size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1))
    if (is_like(path.substr(at + 1), pattern)) return true;
  return false;
}

bool in_scope(const std::vector<std::string>& patterns, std::string_view path) {
  const bool is_system = std::any_of(std::begin(kSystem), std::end(kSystem), [&](auto folder) {
      return path.starts_with(folder); });
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return (!is_system || pattern.starts_with('/')) && matches_source(pattern, path);
  });
}

}  // namespace stab::lines
