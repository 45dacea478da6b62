// CSV in: chosen columns of a table with a header line, as numbers or as levels of a factor. Fields are separated by commas,
// semicolons or tabs, whichever the header has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/commands/table/csv_text.h"
#include "base/result.h"

namespace stab::commands {

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
  // The file's data rows that have no part in it, ascending, counted from 1, and how many of them have some values, and not all.
  std::vector<size_t> left_out;
  size_t lacking = 0;
  // Of a value, from 0: the file's data row that has it, counted from 1.
  size_t row_of(size_t value) const;
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
