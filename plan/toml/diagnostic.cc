// Rendering of faults.
//
// A plan may come from a stranger through the daemon's socket, and it is quoted back to a terminal: everything
// rendered here goes through printable(), so that no escape sequence survives. Columns count code points, as
// toml++ does, and the caret line does the same.
#include "plan/toml/diagnostic.h"

#include <algorithm>

#include "plan/toml/text_limits.h"

namespace stab::toml {
namespace {

constexpr size_t kShownColumns = 100;  // of a long line, around the caret

// Splits UTF-8 into code points, invalid bytes into themselves.
std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  for (size_t i = 0; i < text.size();) {
    const unsigned char lead = static_cast<unsigned char>(text[i]);
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    length = std::min(length, text.size() - i);
    for (size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) length = k;
    points.push_back(text.substr(i, length));
    i += length;
  }
  return points;
}

bool is_control(std::string_view point) {
  const unsigned char lead = static_cast<unsigned char>(point[0]);
  if (point.size() == 1) return lead < 0x20 || lead == 0x7f || lead >= 0x80;
  // U+0080..U+009F: terminals take U+009B for ESC [
  return point.size() == 2 && lead == 0xc2 && static_cast<unsigned char>(point[1]) < 0xa0;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::string_view point : code_points(text)) {
    if (point == "\t") {
      out += ' ';
      continue;
    }
    if (is_control(point)) {
      out += '?';
      continue;
    }
    out += point;
  }
  return out;
}

// Cut between two code points.
std::string shortened(std::string_view text) {
  if (text.size() <= kMaxMessageBytes) return std::string(text);
  size_t end = kMaxMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

// "  3 | seeed = 42\n    | ^\n"
std::string quoted_line(const Diagnostic& diagnostic) {
  const auto points = code_points(diagnostic.line_text);
  const size_t caret =
      std::min<size_t>(static_cast<size_t>(std::max(diagnostic.spot.column, 1)) - 1, points.size());
  const size_t first = caret > kShownColumns * 3 / 4 ? caret - kShownColumns / 2 : 0;
  const size_t last = std::min(points.size(), first + kShownColumns);
  std::string shown = first > 0 ? "..." : "";
  const size_t indent = shown.size() + (caret - first);
  for (size_t i = first; i < last; ++i) shown += printable(points[i]);
  if (last < points.size()) shown += "...";
  const std::string number = std::to_string(diagnostic.spot.line);
  return "  " + number + " | " + shown + "\n  " + std::string(number.size(), ' ') + " | " +
         std::string(indent, ' ') + "^\n";
}

}  // namespace

Diagnostic diagnostic_at(std::string_view text, SourceSpot spot, std::string message,
                         std::string hint) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  size_t start = 0;
  for (int line = 1; line < spot.line && start < text.size(); ++line) {
    const size_t end = text.find('\n', start);
    start = end == std::string_view::npos ? text.size() : end + 1;
  }
  std::string_view line_text = text.substr(start, text.find('\n', start) - start);
  if (line_text.ends_with('\r')) line_text.remove_suffix(1);
  if (spot.known()) diagnostic.line_text = line_text;
  diagnostic.spot = std::move(spot);
  return diagnostic;
}

std::string render(const Diagnostic& diagnostic) {
  std::string out = printable(diagnostic.spot.file);
  if (diagnostic.spot.known())
    out += ":" + std::to_string(diagnostic.spot.line) + ":" + std::to_string(diagnostic.spot.column);
  if (!out.empty()) out += ": ";
  out += diagnostic.severity == Severity::kError ? "error: " : "warning: ";
  out += printable(shortened(diagnostic.message)) + "\n";
  if (diagnostic.spot.known()) out += quoted_line(diagnostic);
  if (!diagnostic.hint.empty()) out += "  hint: " + printable(shortened(diagnostic.hint)) + "\n";
  return out;
}

std::string render(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += render(diagnostic);
  return out;
}

}  // namespace stab::toml
