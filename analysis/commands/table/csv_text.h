// The text of a CSV file: mapped, not copied.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

}  // namespace stab::commands
