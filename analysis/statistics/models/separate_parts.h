// Two factors that are fitted together, and what of them can't be told apart.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace stab::statistics {

// How many parts the rows fall into of which no two share a level of either factor. Least squares of both effects has as many
// independent numbers as there are levels, less one for each part. first, second: the level of each row, below so many levels
template <typename First, typename Second>
size_t separate_parts(const std::vector<First>& first, size_t first_levels, const std::vector<Second>& second,
                      size_t second_levels) {
  std::vector<size_t> parent(first_levels + second_levels);
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto root = [&](size_t at) {
    while (parent[at] != at) at = parent[at] = parent[parent[at]];
    return at;
  };
  for (size_t row = 0; row < first.size(); ++row) parent[root(first_levels + second[row])] = root(first[row]);
  size_t parts = 0;
  for (size_t at = 0; at < parent.size(); ++at) parts += root(at) == at;
  return parts;
}

}  // namespace stab::statistics
