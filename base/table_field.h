// What a field of somebody's table may mean: nothing, or a number whose commas separate thousands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace stab {

// What R, pandas and spreadsheets write where there is nothing.
inline bool marks_missing(std::string_view field) {
  if (field.size() < 2 || field.size() > 4 || (field[0] != 'N' && field[0] != 'n' && field[0] != '#')) return false;
  constexpr std::string_view kWords[] = {"NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "#N/A"};
  return std::find(std::begin(kWords), std::end(kWords), field) != std::end(kWords);
}

// "12,345", "1,234,567"; not "0,123". pre: it has the sign
inline bool may_be_thousands(std::string_view field, char sign = ',') {
  if (!field.empty() && (field.front() == '-' || field.front() == '+')) field.remove_prefix(1);
  const size_t first = field.find(sign);
  if (first == 0 || first > 3 || field[0] == '0') return false;
  for (size_t at = first; at < field.size(); at += 4) {
    if (field[at] != sign || at + 4 > field.size()) return false;
    if (field.substr(at + 1, 3).find_first_not_of("0123456789") != std::string_view::npos) return false;
  }
  return true;
}

// Where semicolons separate columns, as they do where commas are decimal signs, a point may separate thousands: a column with
// "1.002" and "998", of which no number has another count of decimals, can be read both ways.
class PointsOfColumn {
 public:
  // pre: the field is a number without a comma
  void see(std::string_view field, size_t row) {
    const size_t point = field.find('.');
    if (point == std::string_view::npos) {
      if (field.size() <= kThousandsAt && bare_.empty()) bare_ = field, bare_row_ = row;
    } else if (!may_be_thousands(field, '.')) {
      only_thousands_ = false;
    } else if (pointed_.empty()) {
      pointed_ = field, pointed_row_ = row;
    }
  }
  bool are_doubtful() const { return only_thousands_ && !pointed_.empty() && !bare_.empty(); }
  // The first number of each kind, and where it stands. pre: are_doubtful()
  const std::string& pointed() const { return pointed_; }
  const std::string& bare() const { return bare_; }
  size_t pointed_row() const { return pointed_row_; }
  size_t bare_row() const { return bare_row_; }

 private:
  static constexpr size_t kThousandsAt = 3;  // digits behind which a separator stands

  std::string pointed_, bare_;
  size_t pointed_row_ = 0, bare_row_ = 0;
  bool only_thousands_ = true;
};

}  // namespace stab
