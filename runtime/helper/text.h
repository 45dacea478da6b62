// Numbers to text and back for /proc and the dose report, without libc.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stab::helper {

// Appends to a buffer and keeps it ended by a 0; what doesn't fit is cut.
class Text {
 public:
  Text(char* to, size_t room) : start_(to), at_(to), end_(to + room - 1) { *at_ = 0; }

  Text& operator<<(const char* text) {
    while (*text != 0 && at_ < end_) *at_++ = *text++;
    *at_ = 0;
    return *this;
  }
  Text& operator<<(uint64_t value) { return digits(value, 10); }
  Text& operator<<(int value) {
    if (value < 0) *this << "-";
    return digits(value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value), 10);
  }
  Text& operator<<(uint32_t value) { return digits(value, 10); }
  Text& hex(uint64_t value) { return digits(value, 16); }

  const char* text() const { return start_; }
  size_t size() const { return static_cast<size_t>(at_ - start_); }

 private:
  Text& digits(uint64_t value, unsigned base) {
    char reversed[21];
    char* out = reversed + sizeof reversed - 1;
    *out = 0;
    do *--out = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    return *this << out;
  }

  char* start_;
  char* at_;
  char* end_;
};

// Hexadecimal digits without prefix; false if there is none.
inline bool take_hex(const char*& at, uint64_t& value) {
  const char* const start = at;
  value = 0;
  for (;; ++at) {
    unsigned digit = 16;
    if (*at >= '0' && *at <= '9') digit = static_cast<unsigned>(*at - '0');
    if (*at >= 'a' && *at <= 'f') digit = static_cast<unsigned>(*at - 'a') + 10;
    if (digit == 16) return at != start;
    value = value * 16 + digit;
  }
}

// Decimal, or hexadecimal after 0x.
inline bool take_number(const char*& at, uint64_t& value) {
  if (at[0] == '0' && at[1] == 'x') {
    at += 2;
    return take_hex(at, value);
  }
  const char* const start = at;
  for (value = 0; *at >= '0' && *at <= '9'; ++at) value = value * 10 + static_cast<uint64_t>(*at - '0');
  return at != start;
}

}  // namespace stab::helper
