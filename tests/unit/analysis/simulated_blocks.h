// Experiments in blocks without any effect, for the rates at which diagnostics speak: of what they are for, and of nothing.
#pragma once

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"
#include "tests/unit/analysis/made_layouts.h"

namespace stab::analysis {

enum class Flaw {
  kNone,
  kSkewed,     // errors are exponential, not normal
  kOutliers,   // errors have a t distribution with 3 degrees of freedom
  kSpread,     // the second half of the cells has twice the spread
  kDrift,      // values rise over the run, by two standard deviations of a trial in all
  kMemory,     // half of a trial's noise is the one before it's: AR(1) with 0.5
};

struct BlocksShape {
  size_t cells = 4;
  size_t blocks = 30;
  size_t links = 0;        // of the first half of the cells, whose code is off; 0: all are shuffled
  double block_sd = 2;     // what a block's trials have in common, in standard deviations of a trial
  Flaw flaw = Flaw::kNone;
  bool rows = false;       // plain rows of a file, without blocks and their deviations
  size_t repeats = 1;      // trials of one layout in a block, without links: runs of a seed, or passes of counters
};

// Linear responses with mean 0. Without links each trial is a draw with variance 1; with links or repeats four fifths of the
// variance is the layout's, of a link that cells with code off share, or of a seed that a cell's trials in a block share.
inline report::Samples simulated_blocks(Rng& rng, const BlocksShape& shape) {
  const auto normal = [&rng] { return statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52); };
  const auto error = [&] {
    if (shape.flaw == Flaw::kSkewed) return -std::log((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52) - 1;
    if (shape.flaw == Flaw::kOutliers) {
      const double a = normal(), b = normal(), c = normal();
      return normal() / std::sqrt(a * a + b * b + c * c);  // t with 3 df, variance 3, divided by sqrt 3
    }
    return normal();
  };
  report::Samples samples;
  samples.workloads = {"program"};
  if (shape.rows) samples.unit = report::Unit::kRow;
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLinear, .margin = 0}};
  const size_t fixed = shape.links > 0 ? shape.cells / 2 : 0, others = shape.cells - fixed;
  report::Factor code{"code", {"shuffle"}, true, 0}, heap{"heap", {}, true, 0};
  if (fixed > 0) code.levels = {"off", "shuffle"};
  for (size_t level = 0; level < std::max(fixed, others); ++level) heap.levels.push_back("h" + std::to_string(level));
  samples.factors = {code, heap};
  std::vector<double> layouts(shape.links);
  for (double& layout : layouts) layout = std::sqrt(0.8) * error();
  std::vector<std::vector<uint64_t>> rounds(shape.cells);  // each cell's links, drawn anew when all have run
  double remembered = normal();
  uint32_t order = 0;
  for (size_t block = 0; block < shape.blocks; ++block) {
    const double common = shape.rows ? 0 : shape.block_sd * normal();
    std::vector<size_t> cells(shape.cells);
    std::iota(cells.begin(), cells.end(), size_t{0});
    for (size_t i = 0; i < shape.cells * (shape.repeats - 1); ++i) cells.push_back(i % shape.cells);
    rng.shuffle(cells);
    std::vector<std::optional<std::pair<uint64_t, double>>> drawn(shape.cells);  // of repeats: the seed and what it adds
    for (size_t cell : cells) {
      report::Trial trial;
      const bool is_fixed = cell < fixed;
      trial.levels = {static_cast<uint16_t>(fixed > 0 && !is_fixed ? 1 : 0),
                      static_cast<uint16_t>(is_fixed ? cell : cell - fixed)};
      trial.block = static_cast<uint32_t>(block);
      trial.order = order++;
      if (!drawn[cell]) drawn[cell].emplace(rng.next(), shape.repeats > 1 ? std::sqrt(0.8) * error() : 0);
      trial.seed = drawn[cell]->first;
      double value = error();
      if (shape.repeats > 1) value = drawn[cell]->second + std::sqrt(0.2) * value;
      if (fixed > 0) value = std::sqrt(0.8) * error() + std::sqrt(0.2) * error();
      if (is_fixed) {
        if (rounds[cell].empty()) {
          rounds[cell].resize(shape.links);
          std::iota(rounds[cell].begin(), rounds[cell].end(), uint64_t{1});
          rng.shuffle(rounds[cell]);
        }
        trial.link = rounds[cell].back();
        rounds[cell].pop_back();
        value = layouts[trial.link - 1] + std::sqrt(0.2) * error();
      }
      if (shape.flaw == Flaw::kSpread && 2 * cell >= shape.cells) value *= 2;
      if (shape.flaw == Flaw::kMemory) {
        remembered = 0.5 * remembered + std::sqrt(0.75) * normal();
        value = is_fixed ? layouts[trial.link - 1] + std::sqrt(0.2) * remembered : remembered;
      }
      if (shape.flaw == Flaw::kDrift)
        value += 2 * static_cast<double>(trial.order) / static_cast<double>(shape.blocks * cells.size());
      trial.values = {value + common};
      samples.trials.push_back(std::move(trial));
    }
  }
  return with_layouts(std::move(samples));
}

}  // namespace stab::analysis
