// Feeds text as a layout script: what is taken keeps its bounds, is bound to a program without a step out of it, and has every
// level once in each run of images.
#include <cstdint>
#include <cstring>

#include "runtime/code/layout_script.h"

namespace {

using namespace stab;
using namespace stab::code;

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

void check_levels(const PlacedFunction& placed) {
  expect(placed.level_count >= 1 && placed.level_count <= kMostLevels && placed.modulus >= kLeastModulus &&
         placed.modulus <= kMostModulus);
  uint32_t seen[kMostModulus / kLevelGrain] = {};
  const uint32_t first = 3 * placed.level_count;
  for (uint32_t image = first; image < first + placed.level_count; ++image) {
    const uint32_t level = level_of(placed, 5, image);
    expect(level < placed.modulus && level % kLevelGrain == 0 && ++seen[level / kLevelGrain] == 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static LayoutScript script;
  const ScriptVerdict verdict = parse_script(reinterpret_cast<const char*>(data), size, script);
  expect(verdict.fault < ScriptFault::kCount);
  if (verdict.fault != ScriptFault::kNone) return 0;
  expect(script.placed_count <= kMostPlaced && script.counted_count <= kMostCounted);
  for (uint32_t i = 0; i < script.placed_count; ++i) check_levels(script.placed[i]);
  for (uint32_t i = 0; i < script.counted_count; ++i) {
    char name[kPointNameBytes];
    write_point_name(script.counted[i], name);
    expect(std::strlen(name) == 9 + script.counted[i].name.bytes);
  }
  abi::CodeHeader header{};
  header.text_start = 0x1000;
  header.text_hash = 7;
  header.function_count = 4;
  abi::CodeFunction functions[4] = {};
  for (uint32_t i = 0; i < 4; ++i) functions[i].start = 16 * i;
  functions[3].immovable = abi::Immovable::kForeign;
  Metadata code;
  code.header = &header;
  code.functions = functions;
  const auto name_of = [](const void*, uint32_t function) -> const char* {
    static constexpr const char* kNames[] = {"f", "g", "g", nullptr};
    return kNames[function];
  };
  // What is about a library is as it is, whichever file asks for its lines.
  static LayoutScript about_library;
  expect(parse_script(reinterpret_cast<const char*>(data), size, about_library, "libf.so").fault == ScriptFault::kNone);
  expect(about_library.library_count == script.library_count && script.placed_count + script.library_count <= kMostPlaced);
  expect(about_library.placed_count <= script.library_count && about_library.counted_count == 0);
  for (uint32_t i = 0; i < about_library.placed_count; ++i) check_levels(about_library.placed[i]);
  const ScriptVerdict bound = bind_script(code, name_of, nullptr, script);
  expect(bound.fault < ScriptFault::kCount);
  if (bound.fault != ScriptFault::kNone) return 0;
  for (uint32_t i = 0; i < script.placed_count; ++i) expect(script.placed[i].function < 3);
  for (uint32_t i = 0; i < script.counted_count; ++i) expect(script.counted[i].function < 3);
  return 0;
}
