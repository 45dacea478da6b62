// shape_table modes|changes [ROUNDS]: how often a report finds several modes in a cell, or changes within a run, at 5 %, as the
// Markdown tables of docs/evaluation/records/calibration.md. First where there is nothing to find: at most 5 %. Then where there
// is something: the higher the better. The same, fewer rounds: tests/unit/analysis/shapes_calibration_test.cc.
#include <cstdio>
#include <cstdlib>

#include "analysis/report/conditions/modes.h"
#include "analysis/report/conditions/run_changes.h"
#include "analysis/statistics/diagnostics/unimodality.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/text/text_table.h"
#include "tests/unit/analysis/made_shapes.h"
#include "tests/unit/analysis/simulated_blocks.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::report;
using namespace stab::statistics;

constexpr size_t kSizes[] = {10, 20, 30, 60, 100, 300};

double share(int of, int rounds) { return 100.0 * of / rounds; }

void dip_row(const std::string& name, const std::function<double(Rng&)>& draw, int rounds) {
  std::printf("| %s |", name.c_str());
  for (const size_t n : kSizes) {
    Rng rng = Rng::stream(n, name);
    int spoke = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto test = dip_test(sample_of(rng, n, draw));
      spoke += test && test->p_value < 0.05;
    }
    std::printf(" %.1f |", share(spoke, rounds));
    std::fflush(stdout);
  }
  std::printf("\n");
}

// An experiment of 24 cells: whether any is said to have several modes.
void family_row(const std::string& name, const std::function<double(Rng&)>& draw, int rounds) {
  std::printf("| any of 24 cells, Holm: %s |", name.c_str());
  for (const size_t n : kSizes) {
    Rng rng = Rng::stream(n, "family of " + name);
    int spoke = 0;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> p;
      for (int cell = 0; cell < 24; ++cell)
        if (const auto test = dip_test(sample_of(rng, n, draw))) p.push_back(test->p_value);
      for (const double adjusted : holm(p))
        if (adjusted < 0.05) {
          ++spoke;
          break;
        }
    }
    std::printf(" %.1f |", share(spoke, rounds));
    std::fflush(stdout);
  }
  std::printf("\n");
}

// Samples whose second half is changed by `change`.
template <typename Change>
void run_row(const char* name, Flaw flaw, int rounds, const Change& change, size_t repeats = 1,
             double block_sd = 0) {
  std::printf("| %s |", name);
  for (const size_t blocks : {10, 30, 100}) {
    Rng rng = Rng::stream(blocks, name);
    int spoke = 0;
    for (int round = 0; round < rounds; ++round) {
      Samples samples = simulated_blocks(rng, {.blocks = blocks, .block_sd = block_sd, .flaw = flaw, .repeats = repeats});
      for (Trial& trial : samples.trials)
        if (2 * trial.block >= blocks) change(rng, *trial.values[0]);
      const auto runs = search_run(samples).runs;
      spoke += !runs.empty() && !runs[0].changes.empty();
    }
    std::printf(" %.1f |", share(spoke, rounds));
    std::fflush(stdout);
  }
  std::printf("\n");
}

void modes_table(int rounds) {
  std::printf("| values of a cell |");
  for (const size_t n : kSizes) std::printf(" %zu |", n);
  std::printf("\n|---|---:|---:|---:|---:|---:|---:|\n");
  for (const MadeShape& shape : shapes_with_one_hump()) dip_row(shape.name, shape.draw, rounds);
  for (const MadeShape& shape : shapes_with_one_hump())
    if (std::string(shape.name) == "normal" || std::string(shape.name) == "uniform")
      family_row(shape.name, shape.draw, rounds / 4);
  for (const double apart : {3.0, 4.0, 5.0, 6.0}) {
    const std::string groups = "two groups " + std::to_string(static_cast<int>(apart)) + " sd apart, ";
    dip_row(groups + "half each", two_humps(apart, 2), rounds / 2);
    dip_row(groups + "one in five above", two_humps(apart, 5), rounds / 2);
  }
}

void changes_table(int rounds) {
  std::printf("| what the run is like, 4 cells | 10 blocks | 30 blocks | 100 blocks |\n|---|---:|---:|---:|\n");
  const auto nothing = [](Rng&, double&) {};
  run_row("normal errors", Flaw::kNone, rounds, nothing);
  run_row("exponential errors", Flaw::kSkewed, rounds, nothing);
  run_row("errors with t, 3 df", Flaw::kOutliers, rounds, nothing);
  run_row("half the cells with twice the sd", Flaw::kSpread, rounds, nothing);
  run_row("two trials of each layout in a block", Flaw::kNone, rounds, nothing, 2);
  run_row("six trials of each layout in a block", Flaw::kNone, rounds, nothing, 6);
  for (const double sd : {0.5, 1.0, 2.0}) {
    const std::string name = "blocks differ by " + text::significant(sd, 1) + " sd: what all trials of a block share";
    run_row(name.c_str(), Flaw::kNone, rounds, nothing, 1, sd);
  }
  run_row("AR(1), 0.5: nobody changed anything", Flaw::kMemory, rounds, nothing);
  run_row("a rise by 2 sd over the run", Flaw::kDrift, rounds, nothing);
  run_row("1/2 sd more from the middle on", Flaw::kNone, rounds, [](Rng&, double& value) { value += 0.5; });
  run_row("1 sd more from the middle on", Flaw::kNone, rounds, [](Rng&, double& value) { value += 1; });
  const auto one_sd = [](Rng&, double& value) { value += 1; };
  run_row("1 sd more, and blocks differ by 1/2 sd", Flaw::kNone, rounds, one_sd, 1, 0.5);
  run_row("1 sd, two trials of each layout in a block", Flaw::kNone, rounds, [](Rng&, double& value) { value += 1; }, 2);
  run_row("2 sd more from the middle on", Flaw::kNone, rounds, [](Rng&, double& value) { value += 2; });
  run_row("three times the sd from the middle on", Flaw::kNone, rounds, [](Rng&, double& value) { value *= 3; });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string table = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 400;
  if ((table != "modes" && table != "changes") || rounds < 10) {
    std::fputs("usage: shape_table modes|changes [ROUNDS]\n", stderr);
    return 2;
  }
  table == "modes" ? modes_table(rounds) : changes_table(rounds);
  return 0;
}
