// What the readers of lines share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::metrics {

// Takes the first line off; a carriage return at its end is no part of it.
std::string_view take_line(std::string_view& text);
// The same of a table: a line break between quotation marks doesn't end it. lines: grows by how many were taken
std::string_view take_row(std::string_view& text, size_t& lines);
std::string_view trimmed(std::string_view text);
// Parts between blanks.
std::vector<std::string_view> words_of(std::string_view line);
// The whole word is a number.
std::optional<double> number(std::string_view word);
bool is_whole_number(std::string_view word);
// RFC 4180. where: "line 3"
Result<std::vector<std::string>> fields_of(std::string_view line, const std::string& where, char separator = ',');
// The same, of a table whose heading has these columns: as many fields as the heading.
Result<std::vector<std::string>> fields_under(const std::vector<std::string>& header, std::string_view line,
                                              const std::string& where, char separator = ',');

}  // namespace stab::metrics
