// Factors: which of code, stack and heap a link is to be strict about.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stab::postlink {

struct Factors {
  bool code = false, stack = false, heap = false;

  static constexpr Factors all() { return {true, true, true}; }
  bool any() const { return code || stack || heap; }
  bool operator==(const Factors&) const = default;
};

// Reads "code,stack,heap" or part of it. `whole` is what the user wrote, for the message.
Result<Factors> parse_factors(std::string_view list, const std::string& whole);
std::string text_of(const Factors& factors);

}  // namespace stab::postlink
