// Patterns: what 'stdout_regex' may say, and whether a text matches it. RE2's syntax.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stab::plan {

// kBadInput says what is wrong with it, and where a pattern asks for what the syntax doesn't have.
Status check_pattern(const std::string& pattern);

// Anywhere in the text. Time grows with the text's length and no faster, memory doesn't. kBadInput as above.
Result<bool> matches(std::string_view text, const std::string& pattern);

}  // namespace stab::plan
