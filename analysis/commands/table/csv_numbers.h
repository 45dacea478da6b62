// Numbers in the fields of a CSV text, and what its commas are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analysis/commands/table/csv_text.h"
#include "base/result.h"

namespace stab::commands {

// Reads numbers with a point, or with a comma for a decimal sign where that may be; the whole text decides.
class NumberReader {
 public:
  explicit NumberReader(DecimalSign allowed) : allowed_(allowed) {}

  // True: the whole field is one finite number. row: from 1
  bool read(std::string_view field, double& number, size_t row);
  // After all rows: whether the commas that were taken for decimal signs are. `name`: of the file
  Status check(const std::string& name) const;
  bool has_seen_commas() const { return comma_row_ != 0; }

 private:
  bool read_with_comma(std::string_view field, double& number, size_t row);

  DecimalSign allowed_;
  size_t comma_row_ = 0, point_row_ = 0;  // the first that has one; 0: none
  std::string comma_field_, point_field_;
  bool only_thousands_ = true;  // each comma stands where one may separate thousands, too: "12,345"
  size_t several_row_ = 0;      // the first with several commas, which are no decimal sign
};

// The rest of a decimal that a double can't hold, to the 64 bits of a long double. Matters where values differ in
// digits that the double has lost (NIST StRD SmLs07 to 09: 1000000000000.4). 0 for most fields.
double rest_of(std::string_view field, double number);

}  // namespace stab::commands
