// Feeds bytes as a dose report to its reader, and what it reads to the verdict on each kind of cell.
#include <cstdint>
#include <string_view>

#include "runtime/modes.h"
#include "stabd/engine/trial/dose.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stab;
  const auto dose = engine::parse_dose(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!dose) return 0;
  for (int cell = 0; cell < 5; ++cell) {
    plan::Layout layout;
    layout.code = static_cast<abi::CodeMode>(cell);
    layout.stack = static_cast<abi::StackMode>(cell % 4);
    layout.heap = static_cast<abi::HeapMode>(cell % 4);
    (void)engine::dose_contradiction(layout, *dose);
  }
  (void)engine::region_missing(*dose);
  return 0;
}
