// JSON output, indented by two spaces. A parser isn't needed here, and a document in memory neither.
#include "analysis/text/json_writer.h"

#include <cmath>
#include <cstdio>

#include "base/number_text.h"

namespace stab::text {

namespace {

// The length of the UTF-8 character that `text` begins with; 0 where it begins with none (RFC 3629: no overlong forms, no
// surrogates, nothing beyond U+10FFFF).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) { return byte(i) >= low && byte(i) <= high; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  const unsigned low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
  return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
}

}  // namespace

void JsonWriter::quote(std::string_view text) {
  out_ += '"';
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      // A file in another encoding gives levels that aren't UTF-8, which JSON must be.
      const size_t length = utf8_length(text.substr(at));
      out_ += length > 0 ? text.substr(at, length) : "\xef\xbf\xbd";
      at += length > 0 ? length - 1 : 0;
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out_ += escape;
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

void JsonWriter::start(std::string_view key) {
  if (!closers_.empty()) {
    if (!first_) out_ += ',';
    out_ += '\n';
    out_.append(2 * closers_.size(), ' ');
  }
  first_ = false;
  if (!closers_.empty() && closers_.back() == '}') {
    quote(key);
    out_ += ": ";
  }
}

JsonWriter& JsonWriter::begin_object(std::string_view key) {
  start(key);
  out_ += '{';
  closers_ += '}';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array(std::string_view key) {
  start(key);
  out_ += '[';
  closers_ += ']';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end() {
  const char closer = closers_.back();
  closers_.pop_back();
  if (!first_) {
    out_ += '\n';
    out_.append(2 * closers_.size(), ' ');
  }
  out_ += closer;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view key, std::string_view text) {
  start(key);
  out_ += text;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view key, std::string_view text) {
  start(key);
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view key, double number) {
  return raw(key, std::isfinite(number) ? number_text(number) : "null");
}

JsonWriter& JsonWriter::numbers(std::string_view key, std::span<const double> values, int digits) {
  std::string list = "[";
  for (const double value : values) {
    char text[32] = "null";
    if (std::isfinite(value)) std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (list.size() > 1) list += ',';
    list += text;
  }
  return raw(key, list + "]");
}

// Texts in JSON have no line ends of their own.
JsonWriter& JsonWriter::json(std::string_view key, std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  start(key);
  for (const char c : text) {
    out_ += c;
    if (c == '\n') out_.append(2 * closers_.size(), ' ');
  }
  return *this;
}

std::string JsonWriter::take() { return std::move(out_) + "\n"; }

}  // namespace stab::text
