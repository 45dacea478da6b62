// TextTable: aligned columns of UTF-8 text, and numbers the way people read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stab::text {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct ColumnStyle {
    std::string title;
    Align align = Align::kLeft;
    bool whole = false;  // never cut: half an interval is no interval
  };

  explicit TextTable(std::vector<ColumnStyle> columns);
  // Missing cells are empty; cells past the last column are dropped.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Two spaces between columns, each line starting with `indent`. Where lines would be longer than width, the
  // widest left-aligned column that isn't `whole` is cut, with "…".
  std::string text(int width, std::string_view indent = "  ") const;
  std::string markdown() const;
  // With booktabs: a float, or where it is longer than a page a longtable.
  std::string latex(std::string_view caption) const;

 private:
  std::vector<ColumnStyle> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns on a screen: code points, escape sequences not counted. Ours are all one column wide.
size_t display_width(std::string_view text);
// The first `columns` columns. pre: no escape sequences
std::string_view cut(std::string_view text, size_t columns);

// "0.0123", "1.23e-05", "-4.5": `digits` significant digits.
std::string significant(double value, int digits = 4);
// "4.51 %" of 0.0451.
std::string percent(double share, int digits = 3);
// "0.031", "1.2e-07", "<1e-300".
std::string p_text(double p);
// "+1.23" of a ratio of 1.0123: in per cent, for bounds that stand before one unit.
std::string signed_per_cent(double ratio);
// A ratio as a difference: 1.0123 -> "+1.23 %"; 3.5 -> "x 3.50".
std::string ratio_text(double ratio);
// Splits at spaces into lines of at most width columns, but not between a number and its unit; the first starts with `first`, the
// others with `indent`.
std::string wrap(std::string_view text, int width, std::string_view first, std::string_view indent);

}  // namespace stab::text
