// A number as text that reads back as the same number: the one way in which numbers become text that a program, a plan, a file
// or another part of the lab reads. Digits are dropped where people read a table, and there alone (analysis/text/text_table.h).
#pragma once

#include <cstdint>
#include <string>

namespace stab {

// The shortest text that strtod reads as this double, as JavaScript writes it: 0.1, 1000000, 0.000001, 1e-9, 1.5e300; "inf",
// "-inf", "nan".
std::string number_text(double number);

// "7%", "0.012345%": the shortest percentage whose hundredth is this share; to 15 digits where none is that short.
std::string percent_text(double share);
// "0x1f".
std::string hex_text(uint64_t value);

}  // namespace stab
