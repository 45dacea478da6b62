#include "base/printable.h"

#include <algorithm>

namespace stab {
namespace {

// What turns the direction of the text that follows, beyond its own place: marks and embeddings (U+061C, U+200E, U+200F, U+202A
// to U+202E), isolates (U+2066 to U+2069). A name with one makes others on its line read as something else.
constexpr std::string_view kDirections[] = {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d",
                                            "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"};

// Bytes of the control character that begins there; 0: none does.
size_t control_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  if (byte(at) < 0x20 || byte(at) == 0x7f) return 1;
  if (byte(at) < 0x80) return 0;
  if (byte(at) == 0xc2) return byte(at + 1) >= 0x80 && byte(at + 1) <= 0x9f ? 2 : 0;
  for (const std::string_view one : kDirections)
    if (text.substr(at).starts_with(one)) return one.size();
  return 0;
}

}  // namespace

bool has_control(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (control_at(text, i) > 0) return true;
  return false;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t control = text[i] == '\n' || text[i] == '\t' ? 0 : control_at(text, i);
    shown += control > 0 ? '?' : text[i];
    if (control > 1) i += control - 1;
  }
  return shown;
}

std::string one_line(std::string_view text) {
  std::string shown = printable(text);
  std::replace_if(shown.begin(), shown.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return shown;
}

}  // namespace stab
