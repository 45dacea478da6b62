// Units as people write them in a plan: "60s", "1%", "64MiB", and command lines split into words.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::toml {

// "500ms", "1.5s", "10us", "90ns", "2min", "1h": a number and a unit, no blank needed. Below 292 years.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

// "1%" -> 0.01, "0.01" -> 0.01.
Result<double> parse_fraction(std::string_view text);

// "4096", "64KiB", "8MiB", "1GiB", and the decimal kB, MB, GB.
Result<uint64_t> parse_bytes(std::string_view text);

// Words as a POSIX shell splits them: blanks, '...', "...", backslash. What only a shell can do (pipes,
// redirections, variables, globs) is refused, so that nothing silently means something else; `cure` says what to do instead.
// `quoted`, if given, becomes which words have a quoted or escaped part.
Result<std::vector<std::string>> split_words(std::string_view text, std::string_view cure = "write shell = true",
                                             std::vector<bool>* quoted = nullptr);

}  // namespace stab::toml
