// "model name	: Some CPU" is in each processor's paragraph, and so are Arm's "CPU implementer	: 0x41" and what follows it.
#include "base/cpu_model.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace stab {
namespace {

// What is behind the colon; empty: the line is of another field.
std::string_view value_of(std::string_view line, std::string_view field) {
  if (!line.starts_with(field)) return {};
  const size_t colon = line.find_first_not_of(" \t", field.size());
  if (colon == line.npos || line[colon] != ':') return {};
  const size_t from = line.find_first_not_of(" \t", colon + 1);
  if (from == line.npos) return {};
  return line.substr(from, line.find_last_not_of(" \t") + 1 - from);
}

std::string joined(const std::vector<std::string>& kinds) {
  std::string out;
  for (const std::string& kind : kinds) out += (out.empty() ? "" : "; ") + kind;
  return out;
}

}  // namespace

std::string cpu_model_of(std::string_view cpuinfo) {
  constexpr std::string_view kArmFields[] = {"implementer", "part", "variant", "revision"};
  constexpr size_t kLast = std::size(kArmFields) - 1;
  std::vector<std::string> kinds;
  std::string values[std::size(kArmFields)];
  while (!cpuinfo.empty()) {
    const size_t end = cpuinfo.find('\n');
    const std::string_view line = cpuinfo.substr(0, end);
    cpuinfo.remove_prefix(end == cpuinfo.npos ? cpuinfo.size() : end + 1);
    if (const std::string_view name = value_of(line, "model name"); !name.empty()) return std::string(name);
    for (size_t i = 0; i <= kLast; ++i)
      if (const std::string_view value = value_of(line, "CPU " + std::string(kArmFields[i])); !value.empty()) values[i] = value;
    if (values[kLast].empty()) continue;  // the kernel writes the revision last
    std::string kind;
    for (size_t i = 0; i <= kLast; ++i)
      if (!values[i].empty()) kind += (kind.empty() ? "" : ", ") + std::string(kArmFields[i]) + " " + values[i];
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    for (std::string& value : values) value.clear();
  }
  return joined(kinds);
}

}  // namespace stab
