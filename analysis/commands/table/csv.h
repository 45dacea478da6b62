// CSV in: chosen columns of a table with a header line, as numbers or as levels of a factor. Fields are separated by commas,
// semicolons or tabs, whichever the header has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::commands {

// kAny: a point, or a comma where no number has a point.
enum class DecimalSign { kAny, kPoint, kComma };

// The text of a file, mapped, or of standard input ("-"), read to its end.
class CsvText {
 public:
  static Result<CsvText> open(const std::string& path);
  // For tests; name appears in errors.
  static CsvText of(std::string text, std::string name = "data.csv");
  CsvText(CsvText&& other) noexcept;
  CsvText& operator=(CsvText&&) = delete;
  ~CsvText();

  std::string_view text() const { return text_; }
  const std::string& name() const { return name_; }
  // What the reader takes for a decimal sign, where the numbers alone don't tell.
  void set_decimal(DecimalSign sign) { decimal_ = sign; }
  DecimalSign decimal() const { return decimal_; }

 private:
  CsvText() = default;
  std::string name_;
  DecimalSign decimal_ = DecimalSign::kAny;
  std::string owned_;
  void* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::string_view text_;
};

struct CsvColumn {
  std::string name;
  // Asked for as numbers: one a row, finite. Empty otherwise.
  std::vector<double> numbers;
  // What rounding to double took from numbers above 10^9 with a fraction or more than 15 digits: the value is
  // numbers[i] + rests[i]. Empty where no number is like that.
  std::vector<double> rests;
  // Asked for as levels: sorted (by value where all are numbers, else by bytes), and which one each row has.
  std::vector<std::string> levels;
  std::vector<uint32_t> codes;
};

enum class CsvKind { kNumber, kLevel };
struct CsvRequest {
  std::string name;
  CsvKind kind = CsvKind::kNumber;
};

// Column names of the header. Refuses an empty file and duplicate names.
Result<std::vector<std::string>> csv_header(const CsvText& csv);

// Names of columns whose first data row holds a number.
Result<std::vector<std::string>> csv_numeric_columns(const CsvText& csv);

// RFC 4180: fields may be quoted, quotes are doubled, quoted fields may hold separators and line ends; CRLF or LF;
// spaces around unquoted fields and empty lines are ignored. Refuses, with file:line:column: ragged rows, unknown
// columns ("did you mean"), empty or non-numeric fields, NaN and infinities, NA and its like as a level unless quoted, control
// characters in names of levels and columns, no data rows, two separators in the header, two decimal signs, and commas that may
// be decimal signs or separate thousands.
// notes: rows in which an asked field is empty or marks a missing value are left out instead, and what a person may not expect of
// the reading is said in it, a sentence; ""
Result<std::vector<CsvColumn>> read_csv(const CsvText& csv, const std::vector<CsvRequest>& requests,
                                        std::string* notes = nullptr);
// A column may be asked for as numbers and as levels; where the numbers are measurements, levels are what they are grouped by.
Status check_response_is_no_level(const std::vector<CsvRequest>& requests);

}  // namespace stab::commands
