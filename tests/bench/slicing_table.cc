// slicing_table [ROUNDS [ROW]]: how often reports of sliced blocks err, in the shapes that were measured and worse, as the
// Markdown tables of docs/evaluation/records/calibration.md. First where nothing differs and slicing adds nothing, and where
// cells differ by exactly the margin; then where slicing moves or hides a difference. The same, fewer rounds:
// tests/unit/analysis/slicing_calibration_test.cc. With ROW one row of the first table alone, from 0, so that processors can
// share the work.
#include <cstdio>
#include <cstdlib>

#include "tests/unit/analysis/sliced_rates.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::report;


void quiet_row(SlicedShape shape, uint16_t cells, uint32_t blocks, int rounds) {
  shape.cells = cells;
  shape.blocks = blocks;
  if (shape.links > 0 && blocks < shape.links) return;
  SlicedRates rates = sliced_rates(shape, rounds);
  std::printf("| %s | %u | %u | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n",
              shape.name, cells, blocks, 100 * rates.p, 100 * rates.rank, 100 * rates.median, 100 * rates.changed,
              100 * rates.equivalent, 100 * rates.bias, 100 * rates.switched, 100 * rates.diagnostics["shapiro-wilk"],
              100 * rates.diagnostics["brown-forsythe"], 100 * rates.diagnostics["drift"],
              100 * rates.diagnostics["lag-1 autocorrelation"], 100 * rates.run_changed);
  std::fflush(stdout);
}

void biased_row(const char* what, const SlicedShape& shape, int rounds) {
  const BiasedRates rates = biased_rates(shape, rounds);
  std::printf("| %s | %u | %.0f %% | %.1f | %.1f | %.1f |\n", what, shape.blocks / shape.alone_each, 100 * shape.alone_sd,
              100 * rates.switched, 100 * rates.changed, 100 * rates.covered);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000, only = argc > 2 ? std::atoi(argv[2]) : -1;
  std::printf(
      "| shape | cells | blocks | p | ranks | Hodges-Lehmann | any *changed* | any *equivalent* at the margin | bias | answer of "
      "the "
      "blocks alone | Shapiro-Wilk | Brown-Forsythe | drift | lag 1 | run changes |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  int row = 0;
  for (const SlicedShape& shape : kSlicedShapes)
    for (const uint16_t cells : {2, 4, 8})
      for (const uint32_t blocks : {3, 10, 30, 100}) {
        if (only < 0 || only == row) quiet_row(shape, cells, blocks, rounds);
        ++row;
      }
  if (only >= 0 && only < row) return 0;
  std::printf("\n| what | blocks alone | a trial alone varies by | answer of the blocks alone | *changed* | bias covered |\n"
              "|---|---:|---:|---:|---:|---:|\n");
  for (const uint32_t blocks : {20, 30, 100})
    for (const double alone_sd : {0.03, 0.005})
      for (const auto& [what, effect, bias] : {std::tuple("nothing differs, slicing adds 3 %", 0.0, 0.03),
                                               std::tuple("nothing differs, slicing adds 10 %", 0.0, 0.10),
                                               std::tuple("10 % differ, slicing adds 10 %", 0.10, 0.10),
                                               std::tuple("10 % differ, slicing hides them", 0.10, -0.10)})
        biased_row(what,
                   {.name = "as measured", .blocks = blocks, .drift = 0, .alone_sd = alone_sd, .effect = effect, .bias = bias},
                   rounds);
  return 0;
}
