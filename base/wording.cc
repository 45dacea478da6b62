#include "base/wording.h"

#include <algorithm>

namespace stab {
namespace {

// Longer words are no typing mistakes, and the table of distances is quadratic.
constexpr size_t kLongestWord = 64;

bool is_same(char a, char b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return lower(a) == lower(b);
}

// Edit distance with transpositions of neighbours (optimal string alignment; Boytsov, "Indexing methods for
// approximate dictionary searching", JEA 16, 2011, 2.1), case ignored.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = is_same(a[i - 1], b[j - 1]) ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string in_quotes(std::string_view text, size_t most) {
  if (text.size() <= most) return "'" + std::string(text) + "'";
  const auto continues = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  while (most > 0 && continues(most)) --most;
  return "'" + std::string(text.substr(0, most)) + "...'";
}

std::string plural(uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return {};
  size_t best = std::min(std::max<size_t>(1, word.size() / 3), word.size() - 1) + 1;
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    // Each character that one has more than the other is an edit.
    if (std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size()) >= best) continue;
    const size_t cost = distance(word, candidate);
    if (cost >= best) continue;
    best = cost;
    found = candidate;
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view near = nearest(word, candidates);
  return near.empty() ? "" : "did you mean " + in_quotes(near) + "?";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  return did_you_mean(word, std::vector<std::string_view>(candidates.begin(), candidates.end()));
}

}  // namespace stab
