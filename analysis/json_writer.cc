// JSON output, indented by two spaces. A parser isn't needed here, and a document in memory neither.
#include "analysis/json_writer.h"

#include <cmath>
#include <cstdio>

namespace stab::analysis {

void JsonWriter::quote(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
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
  if (!std::isfinite(number)) return raw(key, "null");
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return raw(key, text);
}

std::string JsonWriter::take() { return std::move(out_) + "\n"; }

}  // namespace stab::analysis
