// Feeds text as a layout file: what is taken keeps its bounds, and is the same when it is written and read again.
#include <cstdint>
#include <string_view>

#include "plan/advice/layout_file.h"

namespace {

using namespace stab;
using namespace stab::advice;

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = parse_layout_file({reinterpret_cast<const char*>(data), size}, "f.layout");
  if (!file) {
    expect(file.error().code == ErrorCode::kBadInput);
    return 0;
  }
  expect(file->places.size() <= kMostFunctions && file->order.size() <= kMostFunctions);
  for (const FixedPlace& place : file->places) {
    expect(place.modulus >= kLeastModulus && place.modulus <= kMostModulus && place.remainder < place.modulus);
    expect(place.remainder % kGrain == 0 && place.function.find_first_of(" \t\n,;/-") == std::string::npos);
  }
  const std::string text = text_of(*file);
  const auto again = parse_layout_file(text, "f.layout");
  expect(again && *again == *file && text_of(*again) == text);
  return 0;
}
