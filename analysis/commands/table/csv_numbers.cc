#include "analysis/commands/table/csv_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "analysis/commands/table/csv_fields.h"
#include "base/table_field.h"

namespace stab::commands {
namespace {

// True when the whole field is one finite number.
bool is_number(std::string_view field, double& number) {
  if (!field.empty() && field.front() == '+') field.remove_prefix(1);
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, number);
  return error == std::errc() && stop == end && std::isfinite(number);
}

}  // namespace

bool NumberReader::read(std::string_view field, double& number, size_t row) {
  if (field.find(',') != std::string_view::npos) return read_with_comma(field, number, row);
  if (!is_number(field, number)) return false;
  const bool has_point = field.find('.') != std::string_view::npos;
  if (has_point && allowed_ == DecimalSign::kComma) return false;
  if (has_point && point_row_ == 0) point_row_ = row, point_field_ = field;
  return true;
}

bool NumberReader::read_with_comma(std::string_view field, double& number, size_t row) {
  if (allowed_ == DecimalSign::kPoint) return false;
  const bool thousands = may_be_thousands(field);
  std::string text(field);
  std::replace(text.begin(), text.end(), ',', '.');
  const bool is_decimal = is_number(text, number);
  if (!is_decimal && !(thousands && allowed_ == DecimalSign::kAny)) return false;
  if (comma_row_ == 0) comma_row_ = row, comma_field_ = field;
  only_thousands_ = only_thousands_ && thousands;
  if (is_decimal) return true;
  // Whether it is a mistake is known after all rows.
  if (several_row_ == 0) several_row_ = row;
  number = 0;
  return true;
}

Status NumberReader::check(const std::string& name) const {
  if (comma_row_ == 0) return {};
  const std::string comma = "row " + std::to_string(comma_row_) + " has " + shown_field(comma_field_);
  if (point_row_ != 0)
    return bad_input("'" + name + "': " + comma + ", and row " + std::to_string(point_row_) + " " +
                     shown_field(point_field_) + "; write all numbers with one decimal sign, and nothing between thousands");
  if (only_thousands_ && allowed_ == DecimalSign::kAny)
    return bad_input("'" + name + "': " + comma +
                     ", whose comma may be a decimal sign or separate thousands; say --decimal comma, or leave the commas out");
  if (several_row_ != 0)
    return bad_input("'" + name + "': row " + std::to_string(several_row_) +
                     " has a number with several commas, while others have one for a decimal sign; leave out what separates "
                     "thousands");
  return {};
}

double rest_of(std::string_view field, double number) {
  if (std::fabs(number) < 1e9) return 0;
  std::string text(field);
  std::replace(text.begin(), text.end(), ',', '.');
  const auto digits = std::count_if(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits < 16 && text.find('.') == std::string::npos) return 0;  // a whole number that a double holds
  const long double exact = std::strtold(text.c_str(), nullptr);
  return std::isfinite(exact) ? static_cast<double>(exact - number) : 0;
}

}  // namespace stab::commands
