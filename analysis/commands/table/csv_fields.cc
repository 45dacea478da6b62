#include "analysis/commands/table/csv_fields.h"

#include <utility>

#include "base/printable.h"
#include "base/wording.h"

namespace stab::commands {

Error at_field(const CsvText& csv, const FieldWalker& walker, std::string message) {
  return bad_input(std::move(message), {csv.name(), walker.line(), walker.column()});
}

Error at_open_quote(const CsvText& csv, const FieldWalker& walker) {
  return at_field(csv, walker, "a quote is not closed, or text follows it");
}

std::string shown_field(std::string_view text) {
  constexpr size_t kMost = 40;
  return in_quotes(one_line(text.substr(0, 2 * kMost)), kMost);
}

Result<char> separator_of(const CsvText& csv) {
  const std::string_view text = csv.text();
  size_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false, begun = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' && begun) break;
    begun = begun || (c != '\n' && c != '\r');
    commas += c == ',';
    semicolons += c == ';';
    tabs += c == '\t';
  }
  // A tab beside a comma is a blank, as it has always been.
  if (commas > 0 && semicolons > 0)
    return bad_input("'" + csv.name() +
                     "': its header has commas and semicolons, so what separates its columns can't be told; put names that "
                     "hold one of them in quotes");
  if (semicolons > 0) return ';';
  if (commas == 0 && tabs > 0) return '\t';
  return ',';
}

}  // namespace stab::commands
