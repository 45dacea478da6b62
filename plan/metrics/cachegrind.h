// What cachegrind has counted, from the file that it writes at a program's end.
//
// The file is text: lines "desc: ..." and "cmd: ...", then "events:" with the names of the columns, then counts by file, function
// and line, and at last "summary:" with the sums. The program that ran could have written it as well, so nothing is believed but
// numbers in their places.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stab::metrics {

// More than any real program's: with a row for each function of it.
inline constexpr size_t kMostCachegrindBytes = size_t{256} << 20;

// Sums by event ("Ir", "I1mr"), of the summary. Refused: a file without events or summary, one that says two of either, counts
// that are no numbers, or more or fewer of them than names.
Result<std::map<std::string, uint64_t>> read_cachegrind(std::string_view text);

}  // namespace stab::metrics
