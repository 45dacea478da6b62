#include "analysis/commands/table/csv_levels.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

namespace stab::commands {

std::vector<uint32_t> LevelTable::finish(std::vector<std::string>& levels) const {
  levels.resize(codes_.size());
  for (const auto& [text, code] : codes_) levels[code] = text;
  std::vector<double> numbers(levels.size());
  bool numeric = true;
  for (size_t i = 0; i < levels.size(); ++i) {
    const char* end = levels[i].data() + levels[i].size();
    const auto [stop, error] = std::from_chars(levels[i].data(), end, numbers[i]);
    numeric = numeric && error == std::errc() && stop == end && std::isfinite(numbers[i]);
  }
  std::vector<uint32_t> order(levels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (numeric && numbers[a] != numbers[b]) return numbers[a] < numbers[b];
    return levels[a] < levels[b];
  });
  std::vector<uint32_t> renumbered(levels.size());
  std::vector<std::string> sorted;
  for (uint32_t old : order) {
    renumbered[old] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(levels[old]));
  }
  levels = std::move(sorted);
  return renumbered;
}

void drop_unused_levels(std::vector<std::string>& levels, std::vector<uint32_t>& codes) {
  std::vector<uint32_t> renumbered(levels.size(), UINT32_MAX);
  std::vector<std::string> used;
  for (const uint32_t code : codes) renumbered[code] = 0;
  for (size_t level = 0; level < renumbered.size(); ++level) {
    if (renumbered[level] == UINT32_MAX) continue;
    renumbered[level] = static_cast<uint32_t>(used.size());
    used.push_back(std::move(levels[level]));
  }
  levels = std::move(used);
  for (uint32_t& code : codes) code = renumbered[code];
}

}  // namespace stab::commands
