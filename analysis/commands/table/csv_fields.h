// The fields of a CSV text, one after the other.
#pragma once

#include <string>
#include <string_view>

#include "analysis/commands/table/csv_text.h"
#include "base/result.h"

namespace stab::commands {

// Walks over fields. After next(), `field` is the field's text, without quotes and with doubled ones as one, and `last_in_row`
// tells whether its row ends there.
class FieldWalker {
 public:
  FieldWalker(std::string_view text, char separator) : at_(text.data()), end_(at_ + text.size()), separator_(separator) {
    if (text.starts_with("\xef\xbb\xbf")) at_ += 3;  // byte order mark
    line_start_ = at_;
  }

  std::string_view field;
  bool last_in_row = false;
  bool quoted = false;

  // How far the memory of an unquoted field goes on; a quoted one ends where it ends.
  const char* readable_end() const { return quoted ? field.data() + field.size() : end_; }
  bool done() const { return at_ == end_; }
  int line() const { return field_line_; }
  int column() const { return field_column_; }

  // Skips lines that hold nothing at all.
  void skip_empty_lines() {
    while (at_ != end_ && (*at_ == '\n' || *at_ == '\r')) {
      if (*at_ == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      }
      ++at_;
    }
  }

  // False: a quote is open at the end, or text follows a closing quote.
  bool next() {
    field_line_ = line_;
    field_column_ = static_cast<int>(at_ - line_start_) + 1;
    quoted = false;
    const char* start = at_;
    while (start != end_ && is_blank(*start)) ++start;
    if (start != end_ && *start == '"') return next_quoted(start + 1);
    // Short fields: a plain loop beats memchr's set-up.
    const char* p = at_;
    while (p != end_ && *p != separator_ && *p != '\n') ++p;
    field = {at_, static_cast<size_t>(p - at_)};
    finish(p);
    if (last_in_row && !field.empty() && field.back() == '\r') field.remove_suffix(1);
    trim();
    return true;
  }

 private:
  void trim() {
    while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
  }
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool next_quoted(const char* p) {
    quoted = true;
    buffer_.clear();
    while (true) {
      const char* quote = p;
      while (quote != end_ && *quote != '"') {
        if (*quote == '\n') {
          ++line_;
          line_start_ = quote + 1;
        }
        ++quote;
      }
      if (quote == end_) return false;
      buffer_.append(p, quote);
      p = quote + 1;
      if (p == end_ || *p != '"') break;
      buffer_ += '"';
      ++p;
    }
    while (p != end_ && (is_blank(*p) || *p == '\r')) ++p;
    if (p != end_ && *p != separator_ && *p != '\n') return false;
    field = buffer_;
    finish(p);
    return true;
  }
  void finish(const char* p) {
    last_in_row = p == end_ || *p == '\n';
    if (p != end_ && *p == '\n') {
      ++line_;
      line_start_ = p + 1;
    }
    at_ = p == end_ ? p : p + 1;
  }

  const char* at_;
  const char* end_;
  const char separator_;
  const char* line_start_;
  int line_ = 1;
  int field_line_ = 1;
  int field_column_ = 1;
  std::string buffer_;
};

// At the walker's field: file, line and column.
Error at_field(const CsvText& csv, const FieldWalker& walker, std::string message);
Error at_open_quote(const CsvText& csv, const FieldWalker& walker);

// What a message quotes of a field, which may be as long as the file.
std::string shown_field(std::string_view text);

// Of the header's line, quotes left out: the one of ',', ';' and tab that it has; one column: ','.
Result<char> separator_of(const CsvText& csv);

}  // namespace stab::commands
