// Tables for the terminal and for Markdown from the same rows.
#include "analysis/text/text_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analysis/text/latex.h"
#include "analysis/text/markup.h"

namespace stab::text {

TextTable::TextTable(std::vector<ColumnStyle> columns) : columns_(std::move(columns)) {}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
      continue;
    }
    width += (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
  }
  return width;
}

std::string_view cut(std::string_view text, size_t columns) {
  size_t bytes = 0;
  for (size_t seen = 0; bytes < text.size(); ++bytes) {
    const bool starts = (static_cast<unsigned char>(text[bytes]) & 0xc0) != 0x80;
    if (starts && seen++ == columns) break;
  }
  return text.substr(0, bytes);
}

namespace {

void put(std::string& line, std::string_view cell, size_t width, TextTable::Align align) {
  const size_t own = display_width(cell);
  const std::string padding(width > own ? width - own : 0, ' ');
  if (align == TextTable::Align::kRight) line += padding;
  line += cell;
  if (align == TextTable::Align::kLeft) line += padding;
}

}  // namespace

std::string TextTable::text(int width, std::string_view indent) const {
  std::vector<size_t> widths;
  size_t total = indent.size();
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t widest = display_width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[c]));
    widths.push_back(widest);
    total += widest + (c ? 2 : 0);
  }
  const auto limit = static_cast<size_t>(std::max(width, 40));
  while (total > limit) {
    size_t widest = columns_.size();
    for (size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].align == Align::kLeft && !columns_[c].whole && widths[c] > 6 &&
          (widest == columns_.size() || widths[c] > widths[widest]))
        widest = c;
    if (widest == columns_.size()) break;
    const size_t take = std::min(total - limit, widths[widest] - 6);
    widths[widest] -= take;
    total -= take;
  }
  std::string out;
  const auto line = [&](auto&& cell_of) {
    std::string text(indent);
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (c) text += "  ";
      std::string cell = cell_of(c);
      if (display_width(cell) > widths[c]) cell = std::string(cut(cell, widths[c] - 1)) + "…";
      put(text, cell, widths[c], columns_[c].align);
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  };
  line([&](size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) line([&](size_t c) { return row[c]; });
  return out;
}

std::string TextTable::markdown() const {
  std::string out = "|";
  for (const ColumnStyle& column : columns_) out += " " + as_markdown(column.title) + " |";
  out += "\n|";
  for (const ColumnStyle& column : columns_) out += column.align == Align::kRight ? "---:|" : "---|";
  out += "\n";
  for (const auto& row : rows_) {
    out += "|";
    for (const std::string& cell : row) out += " " + as_markdown(cell) + " |";
    out += "\n";
  }
  return out;
}

std::string TextTable::latex(std::string_view caption) const {
  constexpr size_t kMostOfAPage = 45;
  const bool is_long = rows_.size() > kMostOfAPage;
  std::string kinds, heads;
  for (const ColumnStyle& column : columns_) {
    kinds += column.align == Align::kRight ? 'r' : 'l';
    heads += (heads.empty() ? "" : " & ") + as_latex(column.title);
  }
  const std::string title = "\\caption{" + as_latex(caption) + "}", head = "\\toprule\n" + heads + " \\\\\n\\midrule\n";
  std::string out = is_long ? "\\begin{longtable}{" + kinds + "}\n" + title + " \\\\\n" + head
                            : "\\begin{table}[htbp]\n\\centering\n" + title + "\n\\begin{tabular}{" + kinds + "}\n" + head;
  if (is_long) out += "\\endhead\n\\bottomrule\n\\endfoot\n";
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) out += (c ? " & " : "") + as_latex(row[c]);
    out += " \\\\\n";
  }
  return out + (is_long ? "\\end{longtable}\n\n" : "\\bottomrule\n\\end{tabular}\n\\end{table}\n\n");
}

std::string significant(double value, int digits) {
  char text[64];
  const double size = std::fabs(value);
  std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
  if (value != 0 && (size < 1e-4 || size >= 1e7)) return text;
  // As it is rounded: 9.999 is 10.0, not 10.00.
  const std::string_view rounded = text;
  const size_t exponent = rounded.find('e');
  const int magnitude = exponent == std::string_view::npos ? 0 : std::atoi(text + exponent + 1);
  std::snprintf(text, sizeof text, "%.*f", std::max(0, digits - 1 - magnitude), value);
  return text;
}

std::string percent(double share, int digits) { return significant(100 * share, digits) + " %"; }

std::string p_text(double p) {
  char text[32];
  if (p < 1e-300) return "<1e-300";
  if (p < 0.001) std::snprintf(text, sizeof text, "%.0e", p);
  else std::snprintf(text, sizeof text, "%.3f", p);
  return text;
}

std::string signed_per_cent(double ratio) {
  char text[40];
  std::snprintf(text, sizeof text, "%+.2f", 100 * (ratio - 1));
  return text;
}

std::string ratio_text(double ratio) {
  char text[48];
  constexpr double kRounding = 1e-12;  // in percent: what is left of a ratio of 1 that was computed from logarithms
  double percent = 100 * (ratio - 1);
  if (std::fabs(percent) < kRounding) percent = 0;
  // Two decimals, and two digits at least: both ends of a narrow interval would be one number.
  if (percent != 0 && std::fabs(percent) < 0.0995) return (percent > 0 ? "+" : "") + significant(percent, 2) + " %";
  if (ratio >= 2 || ratio <= 0.5) std::snprintf(text, sizeof text, "x %.3g", ratio);
  else
    std::snprintf(text, sizeof text, "%+.2f %%", percent);
  return text;
}

namespace {

// "% of its time": what stands before it must stay with it.
bool is_unit(std::string_view rest) {
  for (const std::string_view unit : {"%", "ns", "us", "ms", "s", "min", "h", "MiB", "GiB", "KiB"}) {
    if (!rest.starts_with(unit)) continue;
    const std::string_view behind = rest.substr(unit.size());
    if (behind.empty() || behind[0] == ' ' || std::string_view(",;:)].").find(behind[0]) != std::string_view::npos) return true;
  }
  return false;
}

// Where the piece that begins at `at` ends: at the next space that is not between a number and its unit.
size_t end_of_piece(std::string_view text, size_t at) {
  size_t end = std::min(text.find(' ', at), text.size());
  while (end < text.size() && end > at && (std::isdigit(static_cast<unsigned char>(text[end - 1])) || text[end - 1] == ']') &&
         is_unit(text.substr(end + 1)))
    end = std::min(text.find(' ', end + 1), text.size());
  return end;
}

}  // namespace

std::string wrap(std::string_view text, int width, std::string_view first, std::string_view indent) {
  std::string out, line(first);
  bool fresh = true;  // the line holds its indent only
  const auto limit = static_cast<size_t>(std::max(width, 40));
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of_piece(text, at);
    const std::string_view word = text.substr(at, end - at);
    if (!fresh && display_width(line) + 1 + display_width(word) > limit) {
      out += line + "\n";
      line = indent;
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
    at = end + 1;
  }
  return out + line + "\n";
}

}  // namespace stab::text
