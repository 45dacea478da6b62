// What R, pandas and spreadsheets write into a table where there is nothing.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace stab {

inline bool marks_missing(std::string_view field) {
  if (field.size() < 2 || field.size() > 4 || (field[0] != 'N' && field[0] != 'n' && field[0] != '#')) return false;
  constexpr std::string_view kWords[] = {"NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "#N/A"};
  return std::find(std::begin(kWords), std::end(kWords), field) != std::end(kWords);
}

}  // namespace stab
