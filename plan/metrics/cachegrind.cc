// Only two of the lines are read; rows of single functions, most of the file, are passed over.
#include "plan/metrics/cachegrind.h"

#include <charconv>
#include <optional>
#include <vector>

namespace stab::metrics {
namespace {

constexpr std::string_view kEvents = "events:", kSummary = "summary:";
// cachegrind has 13.
constexpr size_t kMostEvents = 64, kMostEventBytes = 32;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (words.size() <= kMostEvents) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
  return words;
}

bool is_name(std::string_view word) {
  if (word.size() > kMostEventBytes) return false;
  for (const char c : word)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) return false;
  return true;
}

}  // namespace

Result<std::map<std::string, uint64_t>> read_cachegrind(std::string_view text) {
  std::optional<std::string_view> events, summary;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    for (const auto& [key, found] : {std::pair{kEvents, &events}, std::pair{kSummary, &summary}}) {
      if (!line.starts_with(key)) continue;
      if (*found) return bad_input("it has two lines '" + std::string(key) + "', expected one");
      *found = line.substr(key.size());
    }
  }
  if (!events || !summary)
    return bad_input("it has no line '" + std::string(events ? kSummary : kEvents) + "'; the simulator has not come to its end");
  const std::vector<std::string_view> names = words_of(*events), counts = words_of(*summary);
  if (names.empty() || names.size() > kMostEvents || names.size() != counts.size())
    return bad_input("it names " + std::to_string(names.size()) + " events and sums up " + std::to_string(counts.size()));
  std::map<std::string, uint64_t> out;
  for (size_t i = 0; i < names.size(); ++i) {
    uint64_t count = 0;
    const char* const end = counts[i].data() + counts[i].size();
    const auto [stop, error] = std::from_chars(counts[i].data(), end, count);
    if (error != std::errc() || stop != end) return bad_input("the sum of event " + std::to_string(i + 1) + " is no number");
    if (!is_name(names[i]) || !out.emplace(names[i], count).second)
      return bad_input("event " + std::to_string(i + 1) + " has no name of its own");
  }
  return out;
}

}  // namespace stab::metrics
