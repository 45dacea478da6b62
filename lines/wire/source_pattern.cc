#include "lines/wire/source_pattern.h"

#include <algorithm>

namespace stab::lines {
namespace {

constexpr std::string_view kSystem[] = {"/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/lib/"};

// Iterative, so that many % don't cost more than pattern times text.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

}  // namespace

bool matches_source(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return false;
  if (matches(pattern, path)) return true;
  if (pattern.front() == '/') return false;
  for (size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1))
    if (matches(pattern, path.substr(at + 1))) return true;
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
