// What reports say, word for word, in tests/golden/analysis.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/places.h"

namespace stab::analysis {

// Equal, or `"key": number` with the same key and numbers that agree to 1e-9: the last digits are the compiler's, and so is all
// that is left where equal numbers cancel.
inline bool same_line(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const size_t at = a.find("\": "), bt = b.find("\": ");
  if (at == std::string::npos || at != bt || a.compare(0, at, b, 0, bt) != 0) return false;
  char *a_end = nullptr, *b_end = nullptr;
  const double x = std::strtod(a.c_str() + at + 3, &a_end), y = std::strtod(b.c_str() + bt + 3, &b_end);
  constexpr double kCancelled = 1e-15;
  const bool is_near = std::fabs(x - y) <= std::max(1e-9 * std::fabs(y), kCancelled);
  return a_end != a.c_str() + at + 3 && std::string(a_end) == b_end && is_near;
}

// Compares with a stored file; STAB_UPDATE_GOLDEN=1 rewrites it instead.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(STAB_SOURCE_DIR) + "/tests/golden/analysis/" + name;
  if (std::getenv("STAB_UPDATE_GOLDEN")) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::stringstream stored;
  stored << file.rdbuf();
  std::istringstream now(text);
  int number = 0;
  for (std::string ours, theirs; ++number;) {
    const bool more = static_cast<bool>(std::getline(now, ours)), stored_more = static_cast<bool>(std::getline(stored, theirs));
    ASSERT_TRUE(more == stored_more && same_line(ours, theirs))
        << name << " differs in line " << number << "\n  now:    " << ours << "\n  stored: " << theirs
        << "\nif the change is meant: STAB_UPDATE_GOLDEN=1 ctest -R Golden";
    if (!more) return;
  }
}

}  // namespace stab::analysis
