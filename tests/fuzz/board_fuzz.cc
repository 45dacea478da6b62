// Feeds bytes as a board of progress points, which a program may fill with anything: the helper's report of it must be one
// line of JSON that the laboratory can read. The board is far larger than an input, so what is fed comes in three pieces.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "runtime/helper/dose_report.h"
#include "runtime/progress/board.h"
#include "stabd/engine/trial/dose.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stab;
  static const auto board = std::make_unique<progress::Board>();
  static const auto counts = std::make_unique<progress::Counts>();
  memset(static_cast<void*>(board.get()), 0, sizeof *board);
  const auto take = [&](void* to, size_t bytes) {
    const size_t taken = bytes < size ? bytes : size;
    memcpy(to, data, taken);
    data += taken;
    size -= taken;
  };
  take(board.get(), offsetof(progress::Board, reserved));
  take(board->rows, 2 * sizeof board->rows[0]);
  take(&board->points[1], sizeof board->points - sizeof board->points[0]);
  progress::read_board(*board, *counts);
  if (counts->points > progress::kMostNamed || counts->rows > progress::kRows) __builtin_trap();
  char text[helper::kReportBytes];
  const size_t bytes =
      helper::write_report(abi::Settings{}, Control{}, helper::HelperUse{}, helper::End::kExit, text, counts.get());
  const std::string_view report(text, bytes);
  if (report.size() + 1 >= sizeof text || !report.ends_with("}\n") || report.find('\n') + 1 != report.size()) __builtin_trap();
  const auto dose = engine::parse_dose(report);
  if (!dose || !*dose || (*dose)->points.size() != counts->points) __builtin_trap();
  for (size_t i = 0; i < (*dose)->points.size(); ++i)
    if ((*dose)->points[i].name != counts->point[i].name) __builtin_trap();
  return 0;
}
