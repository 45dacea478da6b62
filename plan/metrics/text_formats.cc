// Tables with commas: RFC 4180.
#include <algorithm>

#include "plan/metrics/collected.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {

Result<std::vector<Metric>> read_csv(std::string_view text) {
  size_t lines = 0;
  STAB_TRY(const std::vector<std::string> header, fields_of(take_row(text, lines), "line 1"));
  const auto column = [&](std::string_view name) {
    return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const size_t name = column("name"), value = column("value"), unit = column("unit");
  if (name == header.size() || value == header.size())
    return bad_input("line 1: expected a heading with the columns 'name' and 'value', with commas between them");
  Collected out;
  while (!text.empty()) {
    const std::string where = "line " + std::to_string(lines + 1);
    const std::string_view row = take_row(text, lines);
    if (row.empty()) continue;
    STAB_TRY(const std::vector<std::string> fields, fields_under(header, row, where));
    const auto measured = number(fields[value]);
    if (!measured) return bad_input(where + ": '" + fields[value].substr(0, 40) + "' is no number");
    const auto one = unit == header.size() ? std::optional<double>(1) : seconds_of_unit(fields[unit]);
    if (!one) return bad_input(where + ": '" + fields[unit].substr(0, 40) + "' is no unit of time; use ns, us, ms or s");
    if (const Status added = out.add(fields[name], *measured * *one); !added)
      return bad_input(where + ": " + added.error().message);
  }
  return out.take();
}

}  // namespace stab::metrics
