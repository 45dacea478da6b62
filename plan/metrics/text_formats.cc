// Tables of anybody's: RFC 4180, with commas, or with semicolons or tabs, as spreadsheets write where commas are decimal signs.
#include <algorithm>

#include "base/missing_value.h"
#include "plan/metrics/collected.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

// The one that the heading has; its names have none of them.
char separator_in(std::string_view heading) {
  for (const char separator : {',', ';', '\t'})
    if (heading.find(separator) != std::string_view::npos) return separator;
  return ',';
}

// Numbers of a table in which commas don't separate: a comma is a decimal sign if all numbers allow that.
class Decimals {
 public:
  std::optional<double> read(const std::string& field) {
    const size_t comma = field.find(',');
    if (comma == std::string::npos) {
      has_point_ = has_point_ || field.find('.') != std::string::npos;
      return number(field);
    }
    if (field.find(',', comma + 1) != std::string::npos) return {};
    has_comma_ = true;
    // "12,345" may be a number of thousands
    only_thousands_ = only_thousands_ && comma <= 3 && field.size() == comma + 4 && field[0] != '0';
    std::string text = field;
    text[comma] = '.';
    return number(text);
  }

  // After all rows.
  Status check() const {
    if (has_comma_ && has_point_)
      return bad_input("some numbers have a comma and others a point; write all with one decimal sign, and nothing between "
                       "thousands");
    if (has_comma_ && only_thousands_)
      return bad_input("commas in its numbers may be decimal signs or separate thousands; write decimal points, or leave them "
                       "out");
    return {};
  }

 private:
  bool has_comma_ = false, has_point_ = false, only_thousands_ = true;
};

// A row of separators alone, as spreadsheets write them behind the data.
bool is_blank(const std::vector<std::string>& fields) {
  return std::all_of(fields.begin(), fields.end(), [](const std::string& field) { return trimmed(field).empty(); });
}

}  // namespace

Result<std::vector<Metric>> read_csv(std::string_view text) {
  size_t lines = 0;
  const std::string_view heading = take_row(text, lines);
  const char separator = separator_in(heading);
  STAB_TRY(const std::vector<std::string> header, fields_of(heading, "line 1", separator));
  const auto column = [&](std::string_view name) {
    return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const size_t name = column("name"), value = column("value"), unit = column("unit");
  if (name == header.size() || value == header.size())
    return bad_input("line 1: expected a heading with the columns 'name' and 'value', with commas, semicolons or tabs between "
                     "them");
  Collected out;
  Decimals decimals;
  while (!text.empty()) {
    const std::string where = "line " + std::to_string(lines + 1);
    const std::string_view row = take_row(text, lines);
    if (row.empty()) continue;
    STAB_TRY(const std::vector<std::string> fields, fields_under(header, row, where, separator));
    if (is_blank(fields)) continue;
    const auto add = [&]() -> Status {
      if (trimmed(fields[value]).empty() || marks_missing(fields[value])) return out.add_failed(fields[name], "it has no value");
      const auto measured = decimals.read(fields[value]);
      if (!measured) return bad_input("'" + fields[value].substr(0, 40) + "' is no number");
      const auto one = unit == header.size() ? std::optional<double>(1) : seconds_of_unit(fields[unit]);
      if (!one) return bad_input("'" + fields[unit].substr(0, 40) + "' is no unit of time; use ns, us, ms or s");
      return out.add(fields[name], *measured * *one);
    };
    if (const Status added = add(); !added) return bad_input(where + ": " + added.error().message);
  }
  STAB_CHECK_OK(decimals.check());
  return out.take();
}

}  // namespace stab::metrics
