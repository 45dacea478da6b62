// What a field of somebody's table may mean: nothing, or a number whose commas separate thousands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace stab {

// What R, pandas and spreadsheets write where there is nothing.
inline bool marks_missing(std::string_view field) {
  if (field.size() < 2 || field.size() > 4 || (field[0] != 'N' && field[0] != 'n' && field[0] != '#')) return false;
  constexpr std::string_view kWords[] = {"NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "#N/A"};
  return std::find(std::begin(kWords), std::end(kWords), field) != std::end(kWords);
}

// "12,345", "1,234,567"; not "0,123". pre: it has a comma
inline bool may_be_thousands(std::string_view field) {
  if (!field.empty() && (field.front() == '-' || field.front() == '+')) field.remove_prefix(1);
  const size_t first = field.find(',');
  if (first == 0 || first > 3 || field[0] == '0') return false;
  for (size_t at = first; at < field.size(); at += 4) {
    if (field[at] != ',' || at + 4 > field.size()) return false;
    if (field.substr(at + 1, 3).find_first_not_of("0123456789") != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace stab
