// Feeds bytes as a control block, which a program may fill with anything: the helper's report of it must be one line of
// JSON that the laboratory can read.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "runtime/control.h"
#include "runtime/helper/dose_report.h"
#include "stabd/engine/trial/dose.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stab;
  const auto pages = std::make_unique<ControlPages>();
  memcpy(pages->bytes, data, size < sizeof pages->bytes ? size : sizeof pages->bytes);
  const unsigned draw = size == 0 ? 0 : data[size - 1];
  abi::Settings settings;
  settings.code = static_cast<abi::CodeMode>(draw % 6);
  settings.stack = static_cast<abi::StackMode>(draw / 6 % 4);
  settings.heap = static_cast<abi::HeapMode>(draw / 24 % 4);
  char text[helper::kReportBytes];
  const size_t bytes = helper::write_report(settings, pages->control, helper::HelperUse{}, helper::End::kExit, text);
  const std::string_view report(text, bytes);
  if (report.size() >= sizeof text || !report.ends_with("}\n") || report.find('\n') + 1 != report.size()) __builtin_trap();
  const auto dose = engine::parse_dose(report);
  if (!dose || !*dose) __builtin_trap();
  return 0;
}
