#include "analysis/text/valid_text.h"

#include <cstddef>
#include <cstdint>

namespace stab::text {
namespace {

// Length of the well-formed sequence at `at`, 0: there is none (Unicode 15, table 3-7).
size_t sequence_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0; };
  const auto follows = [&](size_t i, int low = 0x80, int high = 0xBF) { return byte(i) >= low && byte(i) <= high; };
  const int first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : first == '\n' || first == '\t' ? 1 : 0;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF)
    return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  if (first >= 0xF0 && first <= 0xF4)
    return follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

}  // namespace

std::string valid_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence_at(text, at);
    if (length == 0) out += "\xEF\xBF\xBD";
    else out.append(text, at, length);
    at += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace stab::text
