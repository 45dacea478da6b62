// std::to_string and %f have six places behind the point, so 1e-9 is 0; %g has six digits, %.17g shows 0.1 as
// 0.10000000000000001. std::to_chars knows the shortest digits that lead back; this chooses how they are laid out.
#include "base/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace stab {
namespace {

// From here on an exponent is written, as JavaScript does: numbers of plans and tables are within.
constexpr double kSmallestPlain = 1e-6, kLargestPlain = 1e21;
// 17 digits tell a double from its neighbours; plain ones have 21 before the point, or 5 zeros behind it.
constexpr size_t kMostBytes = 64;
// Every number of so many digits survives being a double (DBL_DIG), a multiplication by 100 included.
constexpr int kPercentDigits = 15;

}  // namespace

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  const double size = std::fabs(number);
  const bool plain = size == 0 || (size >= kSmallestPlain && size < kLargestPlain);
  char text[kMostBytes];
  const auto written =
      std::to_chars(text, text + sizeof text, number, plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string out(text, written.ptr);
  if (plain) return out;
  // "1e-09", "1e+21"
  const size_t exponent = out.find('e') + 1;
  const size_t sign = out[exponent] == '-' ? 1 : 0;
  const size_t digits = out.find_first_not_of("+-0", exponent);
  return out.replace(exponent + sign, digits - exponent - sign, "");
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return number_text(share) + "%";
  double percent = 100 * share;
  // A hundred times 0.07 is 7.000000000000001.
  for (int digits = 1; digits <= kPercentDigits; ++digits) {
    char text[kMostBytes];
    *std::to_chars(text, text + sizeof text - 1, 100 * share, std::chars_format::scientific, digits - 1).ptr = '\0';
    percent = std::strtod(text, nullptr);
    if (percent / 100 == share) break;
  }
  return number_text(percent) + "%";
}

std::string hex_text(uint64_t value) {
  char digits[17];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 16);
  return "0x" + std::string(digits, error == std::errc() ? end : digits);
}

}  // namespace stab
