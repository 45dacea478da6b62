// diagnostics_table [ROUNDS]: how often each diagnostic of a report speaks at 5 %, as the Markdown tables of
// docs/evaluation/records/calibration.md. First on experiments with nothing wrong, by number of cells, blocks and links: rates
// should be 5 %. Then of experiments with what each is for: the higher the better. The same shapes, fewer rounds:
// tests/unit/analysis/calibration_test.cc.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "analysis/report/conditions/diagnostics.h"
#include "tests/unit/analysis/simulated_blocks.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::report;

constexpr const char* kChecks[] = {"shapiro-wilk", "brown-forsythe", "drift", "lag-1 autocorrelation"};

std::map<std::string, std::string> rates(const BlocksShape& shape, int rounds) {
  std::map<std::string, int> spoke, made;
  Rng rng = Rng::stream(shape.cells * 1000 + shape.blocks, "diagnostics");
  for (int round = 0; round < rounds; ++round) {
    const Samples samples = simulated_blocks(rng, shape);
    std::vector<Diagnostic> diagnostics;
    diagnose(samples, 0, 0, units_of(samples, 0, 0), diagnostics);
    for (const Diagnostic& diagnostic : diagnostics) {
      made[diagnostic.name] += diagnostic.p_value.has_value();
      spoke[diagnostic.name] += diagnostic.p_value && *diagnostic.p_value < 0.05;
    }
  }
  std::map<std::string, std::string> out;
  for (const char* check : kChecks) {
    char text[16] = "-";
    if (made[check] > rounds / 2) std::snprintf(text, sizeof text, "%.1f", 100.0 * spoke[check] / made[check]);
    out[check] = text;
  }
  return out;
}

void row(const BlocksShape& shape, int rounds) {
  std::printf("| %zu | %zu | %s |", shape.cells, shape.blocks,
              shape.rows    ? "rows without blocks"
              : shape.links ? std::to_string(shape.links).c_str()
                            : "no");
  const auto all = rates(shape, rounds);
  for (const char* check : kChecks) std::printf(" %s |", all.at(check).c_str());
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (rounds < 1) {
    std::fputs("usage: diagnostics_table [ROUNDS]\n", stderr);
    return 2;
  }
  std::printf(
      "| cells | blocks | links | Shapiro-Wilk | Brown-Forsythe | drift | lag 1 |\n|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const size_t links : {size_t{0}, size_t{10}})
    for (const size_t cells : {2, 3, 4, 8, 16})
      for (const size_t blocks : {3, 5, 10, 30, 100})
        if (links == 0 || (cells % 2 == 0 && blocks >= links)) row({.cells = cells, .blocks = blocks, .links = links}, rounds);
  for (const size_t cells : {2, 4, 16})
    for (const size_t blocks : {3, 5, 10, 30, 100}) row({.cells = cells, .blocks = blocks, .rows = true}, rounds);
  std::printf("\n| what is wrong | check | cells | blocks | without block effects | with |\n|---|---|---:|---:|---:|---:|\n");
  const struct { Flaw flaw; const char *what, *check; } flaws[] = {
      {Flaw::kSkewed, "exponential errors", kChecks[0]},      {Flaw::kOutliers, "errors with t, 3 df", kChecks[0]},
      {Flaw::kSpread, "half the cells with twice the sd", kChecks[1]}, {Flaw::kDrift, "a rise by 2 sd over the run", kChecks[2]},
      {Flaw::kMemory, "AR(1), 0.5", kChecks[3]}};
  for (const auto& [flaw, what, check] : flaws)
    for (const size_t cells : {2, 4, 8})
      for (const size_t blocks : {10, 30, 100}) {
        std::printf("| %s | %s | %zu | %zu |", what, check, cells, blocks);
        for (const double block_sd : {0.0, 2.0})
          std::printf(
              " %s |",
              rates({.cells = cells, .blocks = blocks, .block_sd = block_sd, .flaw = flaw}, rounds / 4 + 1).at(check).c_str());
        std::printf("\n");
        std::fflush(stdout);
      }
  return 0;
}
