// Tables of anybody's: RFC 4180, with commas, or with semicolons or tabs, as spreadsheets write where commas are decimal signs.
#include <algorithm>

#include "base/printable.h"
#include "base/table_field.h"
#include "base/wording.h"
#include "plan/metrics/collected.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

// The first one that the heading has outside of quotation marks.
char separator_in(std::string_view heading) {
  bool quoted = false;
  for (const char c : heading) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ',' || c == ';' || c == '\t')) return c;
  }
  return ',';
}

// Numbers of a table: a comma in one is a decimal sign if all numbers allow that.
class Decimals {
 public:
  explicit Decimals(char separator) : separator_(separator) {}

  std::optional<double> read(const std::string& field, size_t line) {
    const size_t comma = field.find(',');
    if (comma == std::string::npos) {
      if (separator_ == ';') points_.see(field, line);
      const std::string where = "line " + std::to_string(line);
      if (point_.empty() && field.find('.') != std::string::npos) point_ = said(field, where);
      return number(field);
    }
    if (field.find(',', comma + 1) != std::string::npos) return {};
    if (comma_.empty()) comma_ = said(field, "line " + std::to_string(line));
    only_thousands_ = only_thousands_ && may_be_thousands(field);
    std::string text = field;
    text[comma] = '.';
    return number(text);
  }

  // After all rows.
  Status check() const {
    if (!comma_.empty() && !point_.empty())
      return bad_input(comma_ + ", and " + point_ + "; write all numbers with one decimal sign, and nothing between thousands");
    if (!comma_.empty() && only_thousands_)
      return bad_input(comma_ + ", whose comma may be a decimal sign or separate thousands; write a decimal point, or leave the "
                                "comma out");
    if (comma_.empty() && points_.are_doubtful())
      return bad_input(said(points_.pointed(), "line " + std::to_string(points_.pointed_row())) + ", and " +
                       said(points_.bare(), "line " + std::to_string(points_.bare_row())) +
                       ": the point may be a decimal sign or separate thousands; write decimals in each number, or leave the "
                       "points out");
    return {};
  }

 private:
  static std::string said(const std::string& field, const std::string& where) {
    return where + " has '" + field.substr(0, 40) + "'";
  }

  const char separator_;
  PointsOfColumn points_;
  std::string comma_, point_;  // the first number that has one, and where; empty: none
  bool only_thousands_ = true;
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
  STAB_TRY(std::vector<std::string> header, fields_of(heading, "line 1", separator));
  for (std::string& one : header) one = std::string(trimmed(one));
  const auto column = [&](std::string_view name) {
    return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  for (const char* one : {"name", "value", "unit"})
    if (std::count(header.begin(), header.end(), one) > 1)
      return bad_input("line 1: column '" + std::string(one) + "' is there twice; rename one");
  const size_t name = column("name"), value = column("value"), unit = column("unit");
  if (name == header.size() || value == header.size())
    return bad_input("line 1: expected a heading with the columns 'name' and 'value', with commas, semicolons or tabs between "
                     "them, and it is " + in_quotes(one_line(heading), 60));
  Collected out;
  Decimals decimals(separator);
  while (!text.empty()) {
    const size_t row_line = lines + 1;
    const std::string where = "line " + std::to_string(row_line);
    const std::string_view row = take_row(text, lines);
    if (row.empty()) continue;
    STAB_TRY(const std::vector<std::string> fields, fields_under(header, row, where, separator));
    if (is_blank(fields)) continue;
    const auto add = [&]() -> Status {
      if (trimmed(fields[value]).empty() || marks_missing(fields[value])) return out.add_failed(fields[name], "it has no value");
      const auto measured = decimals.read(std::string(trimmed(fields[value])), row_line);
      if (!measured) return bad_input("'" + fields[value].substr(0, 40) + "' is no number");
      const auto one = unit == header.size() ? std::optional<double>(1) : seconds_of_unit(trimmed(fields[unit]));
      if (!one) return bad_input("'" + fields[unit].substr(0, 40) + "' is no unit of time; use ns, us, ms or s");
      return out.add(fields[name], *measured * *one);
    };
    if (const Status added = add(); !added) return bad_input(where + ": " + added.error().message);
  }
  STAB_CHECK_OK(decimals.check());
  return out.take();
}

}  // namespace stab::metrics
